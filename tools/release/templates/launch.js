// Starts a program of the package for this platform, which npm installs with this one.
"use strict";
const { spawn } = require("node:child_process");
const path = require("node:path");

module.exports = function launch(name) {
  const wanted = `@pawl-dev/${process.platform}-${process.arch}`;
  let folder;
  try {
    folder = path.dirname(require.resolve(`${wanted}/package.json`));
  } catch {
    console.error(`pawl: the package ${wanted} is not installed.`);
    console.error("  Either there is no Pawl for this platform, or npm left out optional dependencies:");
    console.error("  install again without --omit=optional.");
    process.exit(1);
  }
  const program = path.join(folder, "bin", process.platform === "win32" ? `${name}.exe` : name);
  // Before it starts, so that no signal finds the launcher without them. A terminal sends
  // the first ones to the program as well, which decides what to do.
  const passed = process.platform === "win32" ? ["SIGINT"] : ["SIGINT", "SIGQUIT", "SIGHUP"];
  for (const signal of passed) process.on(signal, () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
  child.on("error", (error) => {
    console.error(`pawl: cannot start ${program}: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
};
