import { AbiFunction, Address, type Hex } from 'ox';
import { toBase64url, utf8 } from '../../lib/base/bytes.ts';
import { proveRegistration } from '../../scripts/dev-stack/passkey-proof.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import type { Mined, TestChain } from './onchain.ts';
import { createPasskey, type Passkey } from './passkey.ts';
import { openRegistry } from './registries.ts';
import type { Reply, TestVault } from './vault.ts';

/** Somebody with a passkey, and an account on the chain that shows its key. */
export interface Person {
  readonly credentialId: string;
  readonly did: string;
  readonly identifier: string;
  readonly channel: 'email' | 'sms' | 'handle';
  readonly passkey: Passkey;
  readonly account: `0x${string}`;
}

/** What people do at a vault on a chain; `vault` says which one. */
export interface People {
  create(channel: Person['channel']): Promise<Person>;
  /** As `create`; the DID is the did:pkh of the account. */
  own(channel: Person['channel']): Promise<Person>;
  /** Lets the account call a function of the second registry. */
  act(who: Pick<Person, 'account'>, name: string, ...args: readonly unknown[]): Promise<void>;
  /** Registers the DID on-chain, with its handle where it has one. */
  publish(who: Person): Promise<Mined>;
  attest(who: Pick<Person, 'identifier' | 'channel'>): Promise<{ readonly signature: string }>;
  /** Sends the claim, with a fresh attestation for an address, and with the passkey's proof if `proof` is true. */
  claim(who: Person, txHash: string, change?: Record<string, unknown>): Promise<Reply>;
  lookup(who: Pick<Person, 'credentialId'>, query?: Record<string, unknown>): Promise<Reply['body']>;
}

let people = 0;
const FORWARD = AbiFunction.from('function forward(address to, bytes data) returns (bytes)');

/** People on this chain. */
export function createPeople(chain: TestChain, vault: () => TestVault): People {
  return {
    async create(channel) {
      const name = `taker${++people}`;
      const passkey = createPasskey();
      const identifiers = { email: `${name}@example.com`, sms: `+1415555${String(1000 + people)}`, handle: name };
      return {
        credentialId: toBase64url(utf8(name.padEnd(16, '.'))),
        did: `did:key:z${name}`,
        identifier: identifiers[channel],
        channel,
        passkey,
        account: await chain.deployHolder(passkey.key),
      };
    },
    async own(channel) {
      const made = await this.create(channel);
      return { ...made, did: `did:pkh:eip155:84532:${Address.checksum(made.account)}` };
    },
    async act({ account: to }, name, ...args) {
      const call = openRegistry(chain.rpc, chain.registry, 2).encode(name, ...args);
      const data = AbiFunction.encodeData(FORWARD, [chain.registry, call]);
      await sendTransaction(chain.rpc, devAccount('alice').privateKey, { to: to as Hex.Hex, data });
    },
    publish: ({ did, channel, identifier, account }) =>
      chain.register({ did, ...(channel === 'handle' ? { handle: identifier } : {}) }, { holder: account }),
    async attest({ identifier, channel }) {
      const t = vault();
      await t.call('POST /api/verify/send', { identifier, channel });
      const code = t.codeFor(identifier);
      return (await t.call('POST /api/verify/check', { identifier, channel, code })).body.attestation;
    },
    async claim(who, txHash, { proof = false, ...change } = {}) {
      const t = vault();
      const { passkey, account, ...fields } = { ...who, ...change } as Person;
      await t.clock.advance(1);
      const attestation = fields.channel === 'handle' ? undefined : await this.attest(fields);
      const { body: contracts } = await t.call('GET /api/contracts');
      const request = { ...fields, smartAccount: account, attestation };
      const proved = proof ? proveRegistration(passkey, contracts, request, { now: t.clock.now() }) : {};
      return t.call('POST /api/dids', { ...fields, ...proved, attestation, txHash, ...change });
    },
    lookup: async ({ credentialId }, query = {}) =>
      (await vault().call('GET /api/dids/lookup', { credentialId, ...query })).body,
  };
}
