/** Installs what the rivals need, as their lock file has it, and checks their types, which the tree's checks leave out. */
export function installRivals(): void {
  const steps = ['install --frozen-lockfile --no-summary', 'check --no-script --project tsconfig.json'];
  for (const step of steps) {
    const command = [process.execPath, ...step.split(' ')];
    const { exitCode, stdout } = Bun.spawnSync(command, { cwd: import.meta.dir, stderr: 'inherit' });
    if (exitCode !== 0) throw new Error(`in tests/bench/rivals, bun ${step} failed:\n${stdout}`);
  }
}
