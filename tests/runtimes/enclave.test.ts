import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENCLAVE_ARGUMENTS, ENCLAVE_FILE } from '../../scripts/enclave.ts';
import { toolPath } from '../../scripts/testing/tools.ts';
import { temporaryFolder } from '../support/databases.ts';

const ROOT = join(import.meta.dir, '../..');

test('Node compiles the sources of the enclave to the committed module, byte for byte', async () => {
  const folder = temporaryFolder();
  const made = join(folder.path, 'enclave.wasm');
  const compiler = toolPath('assemblyscript/bin/asc.js');
  const child = Bun.spawn(['node', compiler, ...ENCLAVE_ARGUMENTS, '--outFile', made], { cwd: ROOT, stderr: 'pipe' });
  expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, '']);
  expect(Buffer.compare(readFileSync(made), readFileSync(ENCLAVE_FILE))).toBe(0);
  folder.remove();
});
