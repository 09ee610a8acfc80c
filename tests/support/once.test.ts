import { afterAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryFolder } from './databases.ts';
import { outputUntil } from './output.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** A process of a run that makes a thing: it says so, and finishes it on a line of input, unless it is killed. */
function startMaker() {
  const script = join(folder.path, 'maker.ts');
  return Bun.write(
    script,
    `import { oncePerRun } from ${JSON.stringify(join(import.meta.dir, 'once.ts'))};
    await oncePerRun('thing', async () => {
      console.log('making');
      for await (const _ of console) break;
    });
    console.log('it is there');
    process.exit(0);`,
  ).then(() =>
    Bun.spawn([process.execPath, script], {
      env: { ...process.env, TEST_RUN_DIR: folder.path },
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
}

test('what a killed process was making is made by another, once', async () => {
  const killed = await startMaker();
  await outputUntil(killed.stdout, 'making');
  const others = [await startMaker(), await startMaker()];
  killed.kill('SIGKILL');
  for (const { stdin } of others) stdin.write('go on\n');
  for (const { stdin } of others) stdin.flush();
  const said = await Promise.all(others.map(({ stdout }) => new Response(stdout).text()));
  expect(said.toSorted()).toEqual(['it is there\n', 'making\nit is there\n']);
});
