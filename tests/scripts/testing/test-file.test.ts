import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTestFile } from '../../../scripts/testing/test-file.ts';
import { temporaryFolder } from '../../support/databases.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => folder.remove());

function run(text: string) {
  writeFileSync(join(folder.path, 'own.test.ts'), `import { expect, test } from 'bun:test';\n${text}`);
  return runTestFile('own.test.ts', { root: folder.path, folder: folder.path, env: process.env });
}

test.each([
  ['passes and leaves out', 'test("a", () => {}); test.skip("b", () => {});', { passed: 1, failed: 0, skipped: 1 }],
  ['fails', 'test("a", () => {}); test("b", () => expect(1).toBe(2));', { passed: 1, failed: 1, skipped: 0 }],
  ['holds no test', '', { passed: 0, failed: 1, skipped: 0 }],
  ['cannot be loaded', 'await import("./absent.ts"); test("a", () => {});', { passed: 0, failed: 1, skipped: 0 }],
  ['ends early', 'test("a", () => {}); test("b", () => process.exit(0));', { passed: 0, failed: 1, skipped: 0 }],
  ['is killed', 'test("a", () => process.kill(process.pid, "SIGKILL"));', { passed: 0, failed: 1, skipped: 0 }],
  [
    'fails outside its tests',
    'test("a", () => { setTimeout(() => { throw new Error("late"); }, 1); }); test("b", () => Bun.sleep(50));',
    { passed: 1, failed: 1, skipped: 0 },
  ],
])('a file that %s is counted', async (_, text, expected) => {
  const { counts, output } = await run(text);
  expect([output, counts]).toEqual([expect.any(String), expected]);
});

test('the result holds what the file printed and the processor time it took', async () => {
  const { output, processorSeconds, file } = await run(
    'console.log("out"); console.error("err"); test("a", () => {});',
  );
  expect(file).toBe('own.test.ts');
  expect(output).toContain('out\n');
  expect(output).toContain('err\n');
  expect(processorSeconds).toBeGreaterThan(0);
});
