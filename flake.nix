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
      required = map (line: builtins.head (builtins.match "([a-z0-9_-]+).*" line)) (
        project.project.dependencies ++ groups.test ++ groups.lab
      );

      on =
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};

          # Of what pyproject.toml requires, these are programs in nixpkgs, not Python packages.
          programs = {
            inherit (pkgs) ruff snakefmt;
            clang-format = pkgs.clang-tools;
          };
          python = pkgs.python3.withPackages (
            ps:
            lib.attrVals (lib.subtractLists (builtins.attrNames programs) required) (
              ps // { snakemake = ps.toPythonModule pkgs.snakemake; }
            )
          );

          # Headers and libraries that kernels are built with. As variables of the compiler and not
          # as flags of its wrapper, so that they stand in no command line.
          libraries = builtins.attrValues {
            inherit (pkgs) hwloc libtirpc numactl ocl-icd opencl-headers;
          };
          compiler =
            libraries: program:
            "env C_INCLUDE_PATH=${lib.makeSearchPathOutput "dev" "include" libraries}"
            + " LIBRARY_PATH=${lib.makeLibraryPath libraries} ${program}";

          # The names that experiments call, the same on a host without Nix; what stands behind a
          # name is recorded with each binary.
          launch = name: start: pkgs.writeShellScriptBin name ''exec ${start} "$@"'';
          named = lib.mapAttrsToList launch {
            gcc = compiler libraries "${pkgs.gcc14}/bin/gcc";
            # Of rpcgen, which asks PATH for it.
            cpp = "${pkgs.gcc14}/bin/cpp";
            gcc-alt = compiler libraries "${pkgs.gcc15}/bin/gcc";
            # Its OpenMP only here: that folder has a libgomp too, which GCC would link instead.
            clang = compiler (libraries ++ [ pkgs.llvmPackages.openmp ]) "${pkgs.clang}/bin/clang";
            "mpicc.mpich" = "${lib.getDev pkgs.mpich}/bin/mpicc";
            "mpiexec.mpich" = "${lib.getBin pkgs.mpich}/bin/mpiexec";
            "mpicc.openmpi" = "${lib.getDev pkgs.openmpi}/bin/mpicc";
            "mpiexec.openmpi" = "${lib.getBin pkgs.openmpi}/bin/mpiexec";
            ldd = "${lib.getBin pkgs.glibc}/bin/ldd";
            # Not bin/snakemake: its wrapper puts a bare Python first on the PATH of every rule.
            snakemake = "${python}/bin/python3 -m snakemake";
          };

          # Counters as perf_event_paranoid allows; with the access daemon of nixpkgs only for root.
          likwid = pkgs.likwid.overrideAttrs (old: {
            makeFlags = old.makeFlags ++ [ "ACCESSMODE=perf_event" ];
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
            named
            ++ [ python ]
            ++ builtins.attrValues programs
            ++ libraries
            ++ builtins.attrValues {
              inherit mbw;
              inherit (pkgs) binutils gnumake util-linux valgrind;
              inherit (pkgs) iperf3 iproute2 rpcsvc-proto sockperf;
              perf = pkgs.perf or pkgs.linuxPackages.perf;
            }
            ++ lib.optionals (system == "x86_64-linux") [ likwid ];

          variables = {
            BENCHBOOK_DOOR = "nix";
            BENCHBOOK_NIX_REVISION = nixpkgs.rev or "none, overridden";
            # OpenCL's loader is opened at run time.
            LD_LIBRARY_PATH = lib.makeLibraryPath [ pkgs.ocl-icd ];
            OCL_ICD_VENDORS = "${pkgs.pocl}/etc/OpenCL/vendors";
            PYTHONNOUSERSITE = "1";
            # Compilers keep -march=native, which their wrappers would drop.
            NIX_ENFORCE_NO_NATIVE = "0";
          };

          # A command with the shell's tools and variables, for use outside of the shell.
          assigned = lib.mapAttrsToList (variable: value: "${variable}='${value}'") variables;
          enter =
            name: command:
            pkgs.writeShellScriptBin name ''
              exec env ${toString assigned} PATH=${lib.makeBinPath tools}:"$PATH" ${command} "$@"
            '';
          # `python3 -m` prefers the checkout that it is started in, as the workflow's rules do.
          benchbook = enter "benchbook" "PYTHONPATH=${self} python3 -m benchbook";
          workflow = enter "benchbook-workflow" "setpriv --pdeathsig KILL snakemake";
        in
        {
          packages.default = benchbook;
          apps.default = {
            type = "app";
            program = "${workflow}/bin/benchbook-workflow";
            meta.description = "Measures what is not measured yet and makes the pages";
          };
          devShells.default = pkgs.mkShell {
            packages = tools ++ [ benchbook ];
            env = variables;
            # A flag that a compiler's wrapper adds would be a lie in the report: hardening brings an
            # -O2, -fPIC and a stack protector into variants that say otherwise.
            hardeningDisable = [ "all" ];
            shellHook = ''
              # The shell's own: a seed and a run path, different in every checkout.
              unset NIX_CFLAGS_COMPILE NIX_LDFLAGS
              {
                echo "Benchbook: compilers and tools as pinned by flake.lock"
                echo "  snakemake          measures what is not measured yet, makes reports/index.html"
                echo "  benchbook doctor   says what is here, and what cannot be measured"
              } >&2
            '';
          };
          # The same command as in continuous integration.
          checks.default = pkgs.runCommand "benchbook-checks" { nativeBuildInputs = tools; } ''
            cp -r ${self} checkout
            chmod -R u+w checkout
            HOME=$PWD checkout/scripts/check
            touch $out
          '';
          formatter = pkgs.nixfmt-tree;
        };

      perSystem = lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] on;
    in
    lib.genAttrs [ "packages" "apps" "devShells" "checks" "formatter" ] (
      output: builtins.mapAttrs (_: made: made.${output}) perSystem
    );
}
