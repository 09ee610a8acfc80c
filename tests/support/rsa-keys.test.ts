import { expect, test } from 'bun:test';
import { temporaryFolder } from './databases.ts';

const CODE = `
const making = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
const made = [];
for (let i = 0; i < 2; i++) {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(making, true, ['sign', 'verify']);
  const signature = await crypto.subtle.sign(making.name, privateKey, new Uint8Array(8));
  if (!(await crypto.subtle.verify(making.name, publicKey, signature, new Uint8Array(8)))) throw new Error('not a pair');
  made.push((await crypto.subtle.exportKey('jwk', publicKey)).n);
}
console.log(JSON.stringify(made));
`;

test('the RSA keys of two processes of a run are the same, those of one process, and of two runs, are not', () => {
  const folders = [temporaryFolder(), temporaryFolder()];
  const keysIn = (folder = '') => {
    const env = { ...process.env, TEST_RUN_DIR: folder };
    const command = [process.execPath, '--preload', `${import.meta.dir}/rsa-keys.ts`, '-e', CODE];
    return JSON.parse(Bun.spawnSync(command, { env }).stdout.toString()) as readonly string[];
  };
  const [first, second] = folders.map(({ path }) => path);
  const [made, again, other] = [keysIn(first), keysIn(first), keysIn(second)];
  for (const folder of folders) folder.remove();
  expect(again).toEqual(made);
  expect(new Set([...made, ...other]).size).toBe(4);
});
