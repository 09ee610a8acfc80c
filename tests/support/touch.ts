// What a passkey signs at the vault's own pages: for which origin, and with which nonce.
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
