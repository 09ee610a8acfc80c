import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTestFiles } from '../../../scripts/testing/test-files.ts';
import { temporaryFolder } from '../../support/databases.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => folder.remove());

/** Runs files in one process, by their names. */
function runAll(texts: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(texts))
    writeFileSync(join(folder.path, name), `import { expect, test } from 'bun:test';\n${text}`);
  return runTestFiles(Object.keys(texts), { root: folder.path, folder: folder.path, env: process.env });
}

async function run(text: string) {
  const [result] = await runAll({ 'own.test.ts': text });
  if (result === undefined) throw new Error('no result');
  return result;
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

describe('of several files in one process', () => {
  const GOOD = 'console.log("good out"); test("good", () => {});';
  const ONE = { passed: 1, failed: 0, skipped: 0 };

  test('each is counted and heard by itself', async () => {
    const [good, bad] = await runAll({
      'good.test.ts': GOOD,
      'bad.test.ts': 'test("bad", () => expect("reason").toBe(2)); test("c", () => {});',
    });
    expect([good?.counts, bad?.counts]).toEqual([ONE, { passed: 1, failed: 1, skipped: 0 }]);
    expect([good?.output.includes('reason'), bad?.output.includes('reason')]).toEqual([false, true]);
  });

  test.each([
    ['is killed', 'test("a", () => process.kill(process.pid, "SIGKILL"));'],
    ['ends early', 'test("a", () => process.exit(0));'],
    ['cannot be loaded', 'await import("./absent.ts"); test("a", () => {});'],
    ['holds no test', ''],
  ])('the one that %s fails, and no other', async (_, text) => {
    const results = await runAll({ 'first.test.ts': GOOD, 'own.test.ts': text, 'last.test.ts': GOOD });
    const found = results.map(({ file, counts }) => [file, counts.passed, counts.failed]);
    expect(found).toEqual([
      ['first.test.ts', 1, 0],
      ['own.test.ts', 0, 1],
      ['last.test.ts', 1, 0],
    ]);
  });

  test('a process that ends for what one left behind is a failure, and what they printed together is shown', async () => {
    const results = await runAll({
      'first.test.ts': 'globalThis.spoilt = true; test("a", () => {});',
      'own.test.ts': 'if (globalThis.spoilt) process.exit(0); test("a", () => {});',
    });
    expect(results.map(({ counts }) => counts.failed)).toEqual([1, 0]);
    expect(results[0]?.output).toContain('It passes alone');
  });
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
