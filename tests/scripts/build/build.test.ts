import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { programName, readTarget, TARGETS } from '../../../scripts/build/targets.ts';

const ROOT = join(import.meta.dir, '../../..');

async function build(...words: string[]) {
  const child = Bun.spawn([process.execPath, 'scripts/build/build.ts', ...words], {
    cwd: ROOT,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, output, errors };
}

test('the program is named as Bun writes it, for every target and for this machine', () => {
  expect(TARGETS.map((target) => programName(target))).toEqual([
    'vault-linux-x64',
    'vault-linux-arm64',
    'vault-linux-x64-musl',
    'vault-linux-arm64-musl',
    'vault-darwin-x64',
    'vault-darwin-arm64',
    'vault-windows-x64.exe',
    'vault-windows-arm64.exe',
  ]);
  expect(programName(undefined, 'linux')).toBe('vault');
  expect(programName(undefined, 'win32')).toBe('vault.exe');
});

test('a known target is taken, and none stands for this machine', () => {
  for (const target of TARGETS) expect(readTarget([`--target=${target}`])).toBe(target);
  expect(readTarget([])).toBeUndefined();
});

test.each([
  ['--target=bun-windows-x46', 'Unknown target: bun-windows-x46'],
  ['--target=', 'Unknown target: (none)'],
  ['--target', 'This is not understood: --target'],
  ['--tagret=bun-linux-x64', 'This is not understood: --tagret=bun-linux-x64'],
])('the build refuses %s in words, with the targets there are', async (word, said) => {
  const { code, output, errors } = await build(word);
  expect({ code, output }).toEqual({ code: 2, output: '' });
  expect(errors).toContain(said);
  for (const target of TARGETS) expect(errors).toContain(target);
});

test('the build says how it is called', async () => {
  const { code, output, errors } = await build('--help');
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  expect(output).toContain('--target=');
});

test('docs/operating.md names every target', async () => {
  const text = await Bun.file(join(ROOT, 'docs/operating.md')).text();
  expect(TARGETS.filter((target) => !text.includes(`\`${target}\``))).toEqual([]);
});
