// What a passkey signs at the vault's own pages: for which origin, and with which nonce.
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8 } from '../../lib/base/bytes.ts';
import type { Passkey } from './passkey.ts';
import type { TestVault } from './vault.ts';

/** The origin at which browsers see the vault: that of its BASE_URL. */
export function originOf(t: TestVault): string {
  return t.url.replace('127.0.0.1', 'localhost');
}

/** A nonce of the vault's for a request. */
export async function nonceFor(t: Pick<TestVault, 'call'>, request: string): Promise<string> {
  const { status, body } = await t.call('POST /authorize/code', { request, fresh: true });
  if (status !== 200) throw new Error(`no nonce: ${body.error}`);
  return body.nonce;
}

/** A touch of a passkey over a label, the vault's registrar and these lines, with a nonce of the vault's; at its own pages. */
export async function signLines(
  t: TestVault,
  passkey: Passkey,
  [label, ...more]: readonly [string, ...string[]],
  origin = originOf(t),
) {
  const lines = [label, (await t.call('GET /api/contracts')).body.registrar, ...more];
  const nonce = await nonceFor(t, lines.join('\n'));
  return { nonce, proof: passkey.assert(sha256(utf8([...lines, nonce].join('\n'))), { origin }) };
}
