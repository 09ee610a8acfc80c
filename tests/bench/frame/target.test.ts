import { expect, test } from 'bun:test';
import { join } from 'node:path';

test('a run that ends by an error leaves no server behind', async () => {
  const script = `
    const { startServer } = await import(${JSON.stringify(join(import.meta.dir, 'target.ts'))});
    const { port } = await startServer('bare');
    console.log(port);
    throw new Error('a case failed');`;
  const run = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'ignore' });
  const port = Number(await new Response(run.stdout).text());
  expect(await run.exited).toBe(1);
  expect(port).toBeGreaterThan(0);
  // The server ends by itself after its signal.
  let answers = true;
  while (answers)
    answers = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
});
