// DIDs on a real chain with the vault's contracts, and what a vault answers about them.
import type { Hex } from 'ox';
import { Address } from 'ox';
import { didHash } from '../../lib/identity/did.ts';
import { keyText } from '../../lib/registration/consent.ts';
import { startChain } from '../../scripts/dev-stack/chain.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { chainVars } from './chain-vars.ts';
import { accountOf, keyOf, openRegistry, stranger, type TestAccount } from './registries.ts';
import type { TestVault } from './vault.ts';

/** The media type of a whole result. */
export const RESULT = 'application/did-resolution';

/** What a resolution was answered. */
export interface Resolved {
  readonly status: number;
  readonly type: string | null;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was answered.
  readonly body: any;
}

/** Asks a vault for a DID, written into the path as it is. */
export async function resolve(
  t: Pick<TestVault, 'url'>,
  did: string,
  { query = '', accept = RESULT as string | null } = {},
): Promise<Resolved> {
  const headers: Record<string, string> = accept === null ? {} : { accept };
  const reply = await fetch(`${t.url}/1.0/identifiers/${did}${query}`, { headers });
  const { status } = reply;
  return { status, type: reply.headers.get('content-type'), headers: reply.headers, body: await reply.json() };
}

/** The name of the error in a result. */
export function errorOf({ body }: Pick<Resolved, 'body'>): string | undefined {
  return body.didResolutionMetadata?.error?.type.split('#')[1];
}

/** A chain with the contracts. */
export async function startDidWorld() {
  const chain = await startChain();
  const { rpc } = chain;
  const contracts = await deployContracts(rpc);
  return {
    ...chain,
    contracts,
    registry: openRegistry(rpc, contracts.didRegistry, 2),
    vars: { ...chainVars(chain.url, contracts), RATE_LIMIT_PROXY_PER_IP: '100000', FINALITY_BLOCKS: '0' },
    person: () => stranger(rpc),
    account: (kind: 1 | 2 = 2) =>
      accountOf(rpc, kind === 1 ? contracts.accountFactory : contracts.accountFactory2, kind),
    mine: async (blocks = 1) => void (await rpc('anvil_mine', [`0x${blocks.toString(16)}`])),
    height: async () => Number(await rpc('eth_blockNumber')),
  };
}

/** The did:pkh of an address, its capitals by EIP-55. */
export function pkh(address: string): string {
  return `did:pkh:eip155:84532:${Address.checksum(address as Address.Address)}`;
}

/** The same DID in its three spellings: EIP-55, lower case, and capitals that are nobody's. */
export function spellings(did: string): readonly string[] {
  const at = did.length - 40;
  const digits = did.slice(at).toLowerCase();
  const odd = digits.replace(/[a-f]/g, (letter) => (letter === 'a' ? letter : letter.toUpperCase()));
  return [did, did.slice(0, at) + digits, did.slice(0, at) + odd];
}

/** Writes what a vault has recorded of a sign-up whose account has no code yet. */
export async function recordKey({ database }: TestVault, did: string, { address, passkey }: TestAccount) {
  const [x, y] = keyOf(passkey);
  await database.execute({
    sql: `INSERT INTO registrations (identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash, status,
        registered_at, unseen_since, smart_account, proof_key)
      VALUES (:name, 'email', :did, :hash, '', :name, '', 'submitted', 0, 0, :account, :key)`,
    args: { name: `email:${address}@example.com`, did, hash: didHash(did), account: address, key: keyText({ x, y }) },
  });
}

/** The label of a key that has none. */
export const LABEL: Hex.Hex = `0x${'00'.repeat(32)}`;
