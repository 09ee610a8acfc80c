import { beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ENCLAVE_FILE } from '../../../scripts/enclave.ts';
import { ENCLAVE_CALLS, openEnclave, WINDOW_BYTES } from '../../support/enclave.ts';

const ROOT = join(import.meta.dir, '../../..');
const BYTES_MAX = 40 * 1024;
const GZIP_BYTES_MAX = 16 * 1024;

const committed = readFileSync(ENCLAVE_FILE);
const source = readFileSync(join(ROOT, 'assets/enclave/index.ts'), 'utf8');
let module: WebAssembly.Module;

beforeAll(async () => {
  module = await WebAssembly.compile(committed);
});

test('it imports nothing, and exports calls alone: no memory, no table', () => {
  expect(WebAssembly.Module.imports(module)).toEqual([]);
  const exported = WebAssembly.Module.exports(module);
  expect(exported.filter(({ kind }) => kind !== 'function')).toEqual([]);
  expect(exported.map(({ name }) => name).sort()).toEqual([...ENCLAVE_CALLS].sort());
});

test('it carries no names and no debug sections', () => {
  for (const name of ['name', 'producers', 'target_features', 'sourceMappingURL', '.debug_info']) {
    expect(WebAssembly.Module.customSections(module, name)).toEqual([]);
  }
});

test('it is small', () => {
  expect(committed.length).toBeLessThanOrEqual(BYTES_MAX);
  expect(gzipSync(committed, { level: 9 }).length).toBeLessThanOrEqual(GZIP_BYTES_MAX);
});

test('the header of the source documents every call', () => {
  const header = source.slice(0, source.indexOf('*/'));
  const documented = new Set(Array.from(header.matchAll(/\b([a-z0-9_]+)\*?\(/g), ([, name = '']) => name));
  expect(ENCLAVE_CALLS.filter((name) => !documented.has(name))).toEqual([]);
});

test('it says its version and its window', () => {
  const { call } = openEnclave();
  expect([call.abi_version(), call.window_length()]).toEqual([2, WINDOW_BYTES]);
});

test('words go in and out at any offset, and outside it traps', () => {
  const { call } = openEnclave();
  for (const offset of [0, 1, 2, 3, WINDOW_BYTES - 4]) {
    call.write(offset, 0xdeadbeef);
    expect(call.read(offset) >>> 0).toBe(0xdeadbeef);
  }
  for (const offset of [WINDOW_BYTES - 3, WINDOW_BYTES, 2 ** 31, 2 ** 32 - 1, 2 ** 32 - 4, -1]) {
    expect(() => call.read(offset)).toThrow(WebAssembly.RuntimeError);
    expect(() => call.write(offset, 1)).toThrow(WebAssembly.RuntimeError);
  }
});
