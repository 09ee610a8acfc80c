import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryFolder } from './databases.ts';

const SCRIPT = `
import { startProgram } from ${JSON.stringify(join(import.meta.dir, 'program.ts'))};
const { url } = await startProgram({ DATA_DIR: process.cwd() }, { cwd: process.cwd() });
console.log(url);
`;

test('a vault that a test started ends with the test runner, however that ends', async () => {
  const folder = temporaryFolder();
  const starter = Bun.spawn([process.execPath, '-e', SCRIPT], { cwd: folder.path, stdout: 'pipe', stderr: 'inherit' });
  let url = '';
  for await (const chunk of starter.stdout.pipeThrough(new TextDecoderStream())) {
    url = chunk.trim();
    break;
  }
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  starter.kill('SIGKILL');
  await starter.exited;
  while (await serves(url)) await Bun.sleep(20);
  folder.remove();
});

function serves(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  );
}
