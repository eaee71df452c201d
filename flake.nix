{
  description = "Benchbook: reruns published performance experiments on your own machine";

  # The only input. Every run records the revision that flake.lock pins.
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-25.11";

  outputs =
    { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;

      # pyproject.toml owns the list of Python packages; of each requirement only the name counts.
      project = builtins.fromTOML (builtins.readFile ./pyproject.toml);
      groups = project.dependency-groups;
      names = map (line: builtins.head (builtins.match "([a-z0-9_-]+).*" line));
      # For each shell; the default one is small, so that a package of the others cannot break it.
      required = builtins.mapAttrs (_: group: names (project.project.dependencies ++ group)) {
        default = [ ];
        inherit (groups) test lab;
      };

      on =
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};

          # Of what pyproject.toml requires, these are programs in nixpkgs, not Python packages.
          programs = {
            inherit (pkgs) ruff;
            # Not the package: the hooks of a Python application set PYTHONHASHSEED and PYTHONPATH.
            snakefmt = launch "snakefmt" "${pkgs.snakefmt}/bin/snakefmt";
            clang-format = pkgs.clang-tools;
          };
          python =
            shell:
            pkgs.python3.withPackages (
              ps:
              lib.attrVals (lib.subtractLists (builtins.attrNames programs) required.${shell}) (
                ps // { snakemake = ps.toPythonModule pkgs.snakemake; }
              )
            );

          # Headers and libraries that kernels are built with. As variables of the compiler and not
          # as flags of its wrapper, so that they stand in no command line.
          libraries =
            builtins.attrValues {
              inherit (pkgs) hwloc libtirpc numactl ocl-icd opencl-headers;
            }
            ++ lib.optionals (system == "x86_64-linux") [ likwid ];
          compile =
            libraries: program:
            "env C_INCLUDE_PATH=${lib.makeSearchPathOutput "dev" "include" libraries}"
            + " LIBRARY_PATH=${lib.makeLibraryPath libraries} ${program}";

          # The wrappers of nixpkgs ask for frame pointers, by a file that no variable turns off.
          pure =
            wrapper:
            wrapper.overrideAttrs (old: {
              postFixup = old.postFixup + "\n: >$out/nix-support/cc-cflags-before\n";
            });
          gcc14 = pure pkgs.gcc14;
          gcc = compile libraries "${gcc14}/bin/gcc";
          mpiCompiler = launch "gcc" gcc + "/bin/gcc";

          # The names that experiments call, the same on a host without Nix; what stands behind a
          # name is recorded with each binary.
          launch = name: start: pkgs.writeShellScriptBin name ''exec ${start} "$@"'';
          named = lib.mapAttrsToList launch {
            inherit gcc;
            # Of rpcgen, which asks PATH for it.
            cpp = "${gcc14}/bin/cpp";
            gcc-alt = compile libraries "${pure pkgs.gcc15}/bin/gcc";
            # Its OpenMP only here: that folder has a libgomp too, which GCC would link instead.
            clang = compile (libraries ++ [ pkgs.llvmPackages.openmp ]) "${pure pkgs.clang}/bin/clang";
            "mpicc.mpich" = "env MPICH_CC=${mpiCompiler} ${lib.getDev pkgs.mpich}/bin/mpicc";
            "mpiexec.mpich" = "${lib.getBin pkgs.mpich}/bin/mpiexec";
            "mpicc.openmpi" = "env OMPI_CC=${mpiCompiler} ${lib.getDev pkgs.openmpi}/bin/mpicc";
            "mpiexec.openmpi" = "${lib.getBin pkgs.openmpi}/bin/mpiexec";
            ldd = "${lib.getBin pkgs.glibc}/bin/ldd";
          };

          # Counters as perf_event_paranoid allows; with the access daemon of nixpkgs only for root.
          # likwid-perfctr hands its library's folder to the program. Its pattern for that folder ends
          # at a dash, which every path of the store has.
          likwid = pkgs.likwid.overrideAttrs (old: {
            makeFlags = old.makeFlags ++ [ "ACCESSMODE=perf_event" ];
            postPatch =
              old.postPatch or ""
              + ''

                substituteInPlace src/applications/likwid-perfctr.lua \
                  --replace-fail '"([/%a%d]+)/[%a%s%d]*"' '"(.+)/"'
              '';
          });
          # Not in nixpkgs. The archive that Debian builds from, with the flags of the peer's twin.
          mbw = pkgs.stdenv.mkDerivation {
            pname = "mbw";
            version = "1.2.2";
            src = pkgs.fetchurl {
              url = "mirror://debian/pool/main/m/mbw/mbw_1.2.2.orig.tar.gz";
              hash = "sha256-r1G5f5YArK2PqAuFcJeJSBPUg/pg8dwc24ZYOHd4fnA=";
            };
            hardeningDisable = [ "all" ];
            CFLAGS = "-O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wl,-z,relro";
            installPhase = "install -D mbw $out/bin/mbw";
          };

          # In this order: a name from above goes before the same name in a package.
          tools =
            shell:
            named
            # Not bin/snakemake: its wrapper puts a bare Python first on the PATH of every rule.
            ++ [ (launch "snakemake" "${python shell}/bin/python3 -m snakemake") ]
            ++ [ (python shell) ]
            ++ map (name: programs.${name}) (
              lib.intersectLists required.${shell} (builtins.attrNames programs)
            )
            ++ libraries
            ++ builtins.attrValues {
              inherit mbw;
              inherit (pkgs) binutils gnumake util-linux valgrind;
              inherit (pkgs) iperf3 iproute2 rpcsvc-proto sockperf;
              perf = pkgs.perf or pkgs.linuxPackages.perf;
            };

          variables = {
            BENCHBOOK_DOOR = "nix";
            BENCHBOOK_NIX_REVISION = nixpkgs.rev or "none, overridden";
            LC_ALL = "C.UTF-8";
            PYTHONNOUSERSITE = "1";
            # Compilers keep -march=native, which their wrappers would drop.
            NIX_ENFORCE_NO_NATIVE = "0";
          };

          # What depends on the caller: its variables, and the drivers of its devices. OpenCL's loader
          # is opened at run time and reads one folder, so that one gets links to all drivers.
          settle =
            let
              loader = lib.makeLibraryPath [ pkgs.ocl-icd ];
              pocl = "${pkgs.pocl}/etc/OpenCL/vendors";
            in
            pkgs.writeText "settle" ''
              # A seed and a run path of the shell's own, different in every checkout.
              unset NIX_CFLAGS_COMPILE NIX_LDFLAGS
              unset MPLBACKEND PYTHONHOME PYTHONPATH
              drivers=''${XDG_CACHE_HOME:-$HOME/.cache}/benchbook/drivers
              # link TARGET FOLDER: nothing is touched where it is right already.
              link() { [ ! -e "$1" ] || [ "$1" -ef "$2/''${1##*/}" ] || ln -sfn "$1" "$2"; }
              if [ -f "''${OCL_ICD_VENDORS-}" ]; then
                : # The caller wants one driver.
              elif mkdir -p "$drivers/vendors" "$drivers/lib" 2>/dev/null; then
                for icd in "''${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/*.icd \
                  /run/opengl-driver/etc/OpenCL/vendors/*.icd; do
                  [ "''${icd##*/}" = pocl.icd ] || link "$icd" "$drivers/vendors"
                done
                link ${pocl}/pocl.icd "$drivers/vendors"
                export OCL_ICD_VENDORS=$drivers/vendors
              else
                export OCL_ICD_VENDORS=${pocl}
              fi
              # NixOS has a folder of drivers. Elsewhere they lie among libraries of another C library;
              # NVIDIA's need no other one.
              if [ ! -e /run/opengl-driver ] && [ -d "$drivers/lib" ]; then
                for folder in "/usr/lib/$(uname -m)-linux-gnu" /usr/lib64 /usr/lib /usr/lib/wsl/lib; do
                  for library in "$folder"/libcuda.so* "$folder"/libnvidia-*.so*; do
                    link "$library" "$drivers/lib"
                  done
                done
              fi
              case :''${LD_LIBRARY_PATH-}: in
                *:${loader}:*) ;;
                *) LD_LIBRARY_PATH=${loader}:/run/opengl-driver/lib:$drivers/lib''${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ;;
              esac
              export LD_LIBRARY_PATH
              unset -f link
            '';

          # The same for a command outside of the shell, whose mkShell empties the hardening by itself.
          assigned = lib.mapAttrsToList (variable: value: "${variable}=${value}") (
            variables // { NIX_HARDENING_ENABLE = ""; }
          );
          path = lib.makeBinPath (tools "default");
          enter =
            name: command:
            pkgs.writeShellScriptBin name ''
              . ${settle}
              exec env ${lib.escapeShellArgs assigned} PATH=${path}:"$PATH" ${command} "$@"
            '';
          # `python3 -m` prefers the checkout that it is started in, as the workflow's rules do.
          benchbook = enter "benchbook" "PYTHONPATH=${self} python3 -m benchbook";
          workflow = enter "benchbook-workflow" "setpriv --pdeathsig KILL snakemake";
        in
        {
          packages = {
            default = benchbook;
            # The same without Nix: a program that prints an image for docker, podman or apptainer.
            image = pkgs.dockerTools.streamLayeredImage {
              name = "benchbook";
              tag = "latest";
              contents = [
                pkgs.dockerTools.binSh
                pkgs.dockerTools.fakeNss
                pkgs.dockerTools.usrBinEnv
              ];
              extraCommands = "mkdir -m 1777 tmp";
              config = {
                Entrypoint = [ "${enter "benchbook-in" ""}/bin/benchbook-in" ];
                Cmd = [ "bash" ];
                # A program may be started without the entrance, too. The user that fakeNss names has no
                # folder to write to. `make` takes what is here, as in the shell.
                Env = assigned ++ [
                  "HOME=/tmp"
                  "IN_NIX_SHELL=impure"
                  "PATH=${lib.makeBinPath ([ benchbook ] ++ tools "default" ++ pkgs.stdenv.initialPath)}"
                ];
              };
            };
          };
          apps.default = {
            type = "app";
            program = "${workflow}/bin/benchbook-workflow";
            meta.description = "Measures what is not measured yet and makes the pages";
          };
          devShells = builtins.mapAttrs (
            shell: _:
            pkgs.mkShell {
              packages = tools shell ++ [ benchbook ];
              env = variables // {
                BENCHBOOK_SHELL = shell;
              };
              # A flag that a compiler's wrapper adds would be a lie in the report: hardening brings an
              # -O2, -fPIC and a stack protector into variants that say otherwise.
              hardeningDisable = [ "all" ];
              shellHook = ''
                . ${settle}
                {
                  echo "Benchbook: compilers and tools as pinned by flake.lock"
                  echo "  snakemake          measures what is not measured yet, makes reports/index.html"
                  echo "  benchbook doctor   says what is here, and what cannot be measured"
                } >&2
              '';
            }
          ) required;
          checks = {
            # The same command as in continuous integration.
            default = pkgs.runCommand "benchbook-checks" { nativeBuildInputs = tools "test"; } ''
              cp -r ${self} checkout
              chmod -R u+w checkout
              HOME=$PWD checkout/scripts/check
              touch $out
            '';
            # Building it builds all that it has.
            shell = self.devShells.${system}.default;
          };
          formatter = pkgs.nixfmt-tree;
        };

      perSystem = lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] on;
    in
    lib.genAttrs [ "packages" "apps" "devShells" "checks" "formatter" ] (
      output: builtins.mapAttrs (_: made: made.${output}) perSystem
    );
}
