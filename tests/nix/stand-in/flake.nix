# A package set made of this host's programs: what the flake of Benchbook takes from nixpkgs, no more.
# host.json is written by the test: the names of attributes.txt, and which program each package has.
{
  outputs =
    { self }:
    let
      host = builtins.fromJSON (builtins.readFile ./host.json);
      inherit (builtins)
        attrNames
        attrValues
        concatStringsSep
        elem
        filter
        foldl'
        head
        isAttrs
        listToAttrs
        map
        mapAttrs
        tail
        ;
      words = text: filter builtins.isString (builtins.split "\\." text);
      put = path: value: if path == [ ] then value else { ${head path} = put (tail path) value; };
      merge = a: b: a // mapAttrs (name: value: if a ? ${name} then merge a.${name} value else value) b;
      # As nested sets, only the names that are known, each made by its recipe or else by `make`.
      known =
        make: recipes:
        foldl' merge { } (
          map (name: put (words name) (recipes.${name} or (make name))) host.attributes
        );

      lib = {
        attrVals = names: set: map (name: set.${name}) names;
        genAttrs = names: make: listToAttrs (map (name: { inherit name; value = make name; }) names);
        getBin = package: package;
        getDev = package: package;
        escapeShellArgs = words: concatStringsSep " " (map (word: "'${word}'") words);
        intersectLists = wanted: filter (name: elem name wanted);
        makeBinPath = packages: concatStringsSep ":" (map (package: "${package}/bin") packages);
        makeLibraryPath = lib.makeSearchPathOutput "lib" "lib";
        makeSearchPathOutput =
          _: folder: packages:
          concatStringsSep ":" (map (package: "${package}/${folder}") packages);
        mapAttrsToList = make: set: attrValues (mapAttrs make set);
        optionals = wanted: list: if wanted then list else [ ];
        subtractLists = without: filter (name: !elem name without);
      };

      on =
        system:
        let
          # A wrong argument would be a wrong attribute of the real function.
          only =
            names: arguments:
            let
              others = filter (name: !elem name names) (attrNames arguments);
            in
            if others == [ ] then arguments else throw "unexpected argument ${head others}";
          run =
            name: arguments: script:
            derivation (
              {
                inherit name system;
                builder = "/bin/bash";
                # Ends with a builtin: Nix kills a builder that closes its streams before it ends, as
                # the programs of coreutils do.
                args = [
                  "-euc"
                  "${script}\n:"
                ];
                PATH = "/usr/bin:/bin";
              }
              // arguments
            );
          # Wrappers, not links: some programs look beside their own name.
          wrappers =
            programs:
            ''
              mkdir -p $out/bin
            ''
            + concatStringsSep "" (
              map (name: ''
                printf '#!/bin/sh\nexec %s "$@"\n' '${programs.${name}}' >$out/bin/'${name}'
                chmod +x $out/bin/'${name}'
              '') (attrNames programs)
            );
          # A package with the attributes that a recipe may change, as the real one has them.
          package =
            name: programs: attributes:
            run attributes.name or name { } (
              if elem name host.broken then "exit 1" else wrappers programs + attributes.postFixup or ""
            )
            // {
              inherit programs;
              meta.mainProgram = "treefmt"; # asked for by `nix fmt` alone
              overrideAttrs =
                change:
                package name programs (attributes // only (attrNames attributes) (change attributes));
            };
          programs = name: host.packages.${name} or { };
          started = words: name: mapAttrs (_: program: "${words} ${program}") (programs name);
          compiler =
            name:
            package name (started "${host.bash} ${./compiler} $(dirname $0)/.." name) {
              # Without a line end, as the last of many that are joined.
              postFixup =
                "mkdir $out/nix-support; echo -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer "
                + ">$out/nix-support/cc-cflags-before";
            };
          # Its compiler is the wrapped one of the set, which a variable replaces.
          mpi =
            variable: name:
            package name (started "env ${variable}=\${${variable}:-${set.gcc14}/bin/gcc}" name) { };
          bare = run "bare-python" { } (wrappers { python3 = "${host.python.base} -I -S"; });

          set = known (name: package name (programs name) { }) (
            mapAttrs' "lib." lib
            // {
              clang = compiler "clang";
              "dockerTools.streamLayeredImage" =
                arguments:
                let
                  names = [ "name" "tag" "contents" "extraCommands" "config" ];
                in
                run "stream-image" {
                  inherit (only names arguments) contents;
                  config = builtins.toJSON arguments.config;
                } ''
                  printf "#!/bin/sh\ncat <<'END'\n%s\nEND\n" "$config" >$out
                  chmod +x $out
                '';
              gcc14 = compiler "gcc14";
              gcc15 = compiler "gcc15";
              likwid = package "likwid" (programs "likwid") {
                makeFlags = [ "PREFIX=/nowhere" ];
                postPatch = "patchShebangs bench/ perl/";
              };
              mpich = mpi "MPICH_CC" "mpich";
              openmpi = mpi "OMPI_CC" "openmpi";
              pocl = package "pocl" { } {
                postFixup = ''
                  mkdir -p $out/etc/OpenCL/vendors
                  echo libpocl.so.2 >$out/etc/OpenCL/vendors/pocl.icd
                '';
              };
              # What the hooks of a Python application do to a shell that has it.
              snakefmt = package "snakefmt" (programs "snakefmt") {
                postFixup = ''
                  mkdir $out/nix-support
                  echo export PYTHONHASHSEED=0 PYTHONPATH=/nowhere >$out/nix-support/setup-hook
                '';
              };
              fetchurl =
                arguments:
                builtins.toFile "archive" (concatStringsSep " " (attrValues (only [ "url" "hash" ] arguments)));
              mkShell =
                arguments:
                let
                  given = only [ "packages" "env" "hardeningDisable" "shellHook" ] arguments;
                  # What the real one's hooks leave behind, so that a test sees what the shell does about it.
                  setup = builtins.toFile "setup" ''
                    PATH=
                    for package in $packages; do
                      PATH=$PATH''${PATH:+:}$package/bin
                      [ ! -e $package/nix-support/setup-hook ] || . $package/nix-support/setup-hook
                    done
                    export PATH NIX_CFLAGS_COMPILE=-frandom-seed=stand-in NIX_LDFLAGS="-rpath $out/lib"
                    export NIX_HARDENING_ENABLE
                    [ "$hardeningDisable" = all ] && NIX_HARDENING_ENABLE= || NIX_HARDENING_ENABLE=fortify
                  '';
                in
                run "shell" (
                  given.env
                  // {
                    inherit (given) packages hardeningDisable shellHook;
                    outputs = [ "out" ];
                    stdenv = run "stdenv" { } "mkdir $out; cp ${setup} $out/setup";
                  }
                ) "echo >$out";
              "python3.withPackages" =
                choose:
                let
                  modules = choose set.python3Packages;
                in
                run "python" { modules = map toString modules; } (
                  wrappers (
                    foldl' (all: module: all // module.programs) host.python.programs modules
                    // {
                      # As the wrapper of nixpkgs does: its own Python comes first.
                      snakemake = "env PATH=${bare}/bin:$PATH ${host.python.programs.snakemake}";
                    }
                  )
                );
              "python3Packages.toPythonModule" = module: module;
              runCommand =
                name: arguments: script:
                run name (arguments // { PATH = "${lib.makeBinPath arguments.nativeBuildInputs}:/usr/bin:/bin"; }) script;
              "stdenv.mkDerivation" =
                arguments:
                builtins.deepSeq (only [
                  "pname"
                  "version"
                  "src"
                  "hardeningDisable"
                  "CFLAGS"
                  "installPhase"
                ] arguments) (
                  package arguments.pname (programs arguments.pname) {
                    name = "${arguments.pname}-${arguments.version}";
                  }
                );
              "stdenv.initialPath" = [ (package "initial-path" (programs "stdenv.initialPath") { }) ];
              writeText = name: text: run name { inherit text; } ''printf %s "$text" >$out'';
              writeShellScriptBin =
                name: text:
                run name { inherit text; } ''
                  mkdir -p $out/bin
                  printf '#!/bin/bash\n%s\n' "$text" >$out/bin/${name}
                  chmod +x $out/bin/${name}
                '';
            }
          );
          mapAttrs' =
            prefix: values:
            listToAttrs (
              map (name: {
                name = prefix + name;
                value = values.${name};
              }) (attrNames values)
            );
        in
        set;
      sets = lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] on;
    in
    {
      inherit (sets.x86_64-linux) lib;
      legacyPackages = sets;
    };
}
