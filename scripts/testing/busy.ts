/** Starts so many programs that compute without end, as a busy machine has. Answers what ends them. */
export function startBusy(count: number): () => void {
  const loops = Array.from({ length: count }, () =>
    Bun.spawn(['sh', '-c', 'while :; do :; done'], { stdio: ['ignore', 'ignore', 'ignore'] }),
  );
  const end = () => {
    for (const loop of loops) loop.kill('SIGKILL');
  };
  process.on('exit', end);
  return end;
}
