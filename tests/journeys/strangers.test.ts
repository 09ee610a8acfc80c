// A stranger who knows what is public (transactions, DIDs, a credential's id) against the records of others: over HTTP,
// with a real chain.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { AbiConstructor, Bytes, Hex } from 'ox';
import { toBase64url, utf8 } from '../../lib/base/bytes.ts';
import { compileContracts } from '../../scripts/contracts.ts';
import { create2 } from '../../scripts/dev-stack/create2.ts';
import { type ProofOptions, proveRegistration } from '../../scripts/dev-stack/passkey-proof.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { testClock } from '../support/clock.ts';
import { registerData, startTestChain } from '../support/onchain.ts';
import { type Ceremony, createPasskey, type Passkey } from '../support/passkey.ts';
import { callAs } from '../support/second-account.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const REGISTRAR = 'did:web:vault.example';
const NOWHERE = `0x${'00'.repeat(31)}01`;
const PAUSE = 30_000;
/** Blocks until a registration is final. */
const DEPTH = 5;

const chain = await startTestChain();
afterAll(chain.stop);

let t: TestVault;
beforeEach(async () => {
  t = await start();
});
afterEach(() => t.stop());

const start = (vars: Record<string, string> = {}) =>
  startVault(
    {
      ...chain.vars,
      REGISTRAR_DID: REGISTRAR,
      FINALITY_BLOCKS: String(DEPTH),
      MAX_REGISTRATIONS_PER_IP: '1000',
      MAX_VERIFY_SENDS_PER_IP: '1000',
      RATE_LIMIT_CODES_PER_IDENTIFIER: '1000',
      ...vars,
    },
    { clock: testClock() },
  );

/** Somebody with an account of a passkey, whose DID names the account. */
interface Person {
  readonly passkey: Passkey;
  readonly smartAccount: Hex.Hex;
  readonly did: string;
  readonly credentialId: string;
  readonly identifier: string;
  readonly channel: 'email' | 'handle';
}

let people = 0;

async function person(channel: Person['channel'] = 'handle', change: Partial<Person> = {}): Promise<Person> {
  const name = `stranger${++people}`;
  const passkey = change.passkey ?? createPasskey();
  const holder = await chain.deployHolder(passkey.key);
  const did = `did:pkh:eip155:84532:${holder}`;
  const smartAccount = holder.toLowerCase() as Hex.Hex;
  const identifier = channel === 'email' ? `${name}@example.com` : name;
  return { passkey, smartAccount, did, credentialId: credentialOf(name), identifier, channel, ...change };
}

function credentialOf(name: string): string {
  return toBase64url(utf8(name.padEnd(16, '.')));
}

async function onChain({ did, smartAccount, identifier, channel }: Person, alias = channel === 'handle') {
  const what = alias ? { did, handle: identifier } : { did };
  return (await chain.register(what, { holder: smartAccount })).txHash;
}

async function attest(identifier: string): Promise<unknown> {
  await t.call('POST /api/verify/send', { identifier, channel: 'email' });
  const code = t.codeFor(identifier);
  return (await t.call('POST /api/verify/check', { identifier, channel: 'email', code })).body.attestation;
}

interface Claim {
  readonly txHash: string;
  readonly isProven?: boolean;
  /** What the passkey signs instead. */
  readonly proof?: ProofOptions;
  /** The passkey that signs instead. */
  readonly by?: Passkey;
  readonly more?: Record<string, unknown>;
}

async function bodyOf(one: Person, { txHash, isProven = false, proof, by, more = {} }: Claim) {
  const { did, credentialId, identifier, channel, smartAccount } = one;
  const attestation = channel === 'email' ? await attest(identifier) : undefined;
  const claim = { did, credentialId, identifier, channel, smartAccount, txHash, attestation };
  if (!isProven && !proof && !by) return { ...claim, ...more };
  const vault = { registrar: REGISTRAR, chainId: 84532, didRegistry: chain.registry };
  const made = proveRegistration(by ?? one.passkey, vault, claim, { now: t.clock.now(), ...proof });
  return { ...claim, ...made, ...more };
}

async function record(one: Person, claim: Claim, by: Pick<TestVault, 'call'> = t) {
  const { status, body } = await by.call('POST /api/dids', await bodyOf(one, claim));
  return status === 200 ? 'recorded' : [body.error, ...(body.reason ? [body.reason] : [])].join(' ');
}

/** What a look-up answers, but for when the chain was asked: that moves on with each look. */
async function lookUp(credentialId: string, key?: Passkey['key']) {
  const query = key ? { pubKeyX: Hex.fromBytes(key.x), pubKeyY: Hex.fromBytes(key.y) } : {};
  const { status, body } = await t.call('GET /api/dids/lookup', { credentialId, ...query });
  if (status !== 200) return undefined;
  const { checkedAt: _, ...record } = body;
  return record;
}

/** Lets the vault read what the chain has; everything is final afterwards unless told otherwise. */
/** A quarter of an hour of looks at the chain, after which what none of them found has failed. */
async function settleUnseen(): Promise<void> {
  for (let minute = 0; minute <= 15; minute++) {
    await t.clock.advance(60_000);
    await t.work();
  }
  await settle();
}

async function settle(blocks = DEPTH): Promise<void> {
  await t.work();
  if (blocks > 0) await chain.mine(blocks);
  await t.clock.advance(PAUSE);
  await t.work();
}

const available = async ({ identifier, channel }: Person) =>
  (await t.call('GET /api/sessions/check', { identifier, channel })).body.available;

describe('H1: somebody else’s credentialId', () => {
  test.each([
    ['unproven, attested', 'email', false],
    ['proven, attested', 'email', true],
    ['unproven, of a handle with its alias', 'handle', false],
    ['proven, of a handle with its alias', 'handle', true],
  ] as const)('moves no record: %s', async (_, channel, isProven) => {
    const victim = await person(channel);
    expect(await record(victim, { txHash: await onChain(victim), isProven })).toBe('recorded');
    await settle();
    const before = await lookUp(victim.credentialId);
    const thief = await person('handle', { credentialId: victim.credentialId });
    const txHash = await onChain(thief);
    expect(await record(thief, { txHash })).toBe('credential_already_registered');
    expect(await record(thief, { txHash, isProven: true })).toBe('recorded');
    expect(await lookUp(victim.credentialId)).toEqual(before);
    await settle(0);
    expect(await lookUp(victim.credentialId)).toEqual(before);
    await settle();
    const found = await lookUp(victim.credentialId);
    expect(found).toMatchObject({ did: victim.did, smartAccount: victim.smartAccount, ambiguous: true, proven: false });
    expect(await lookUp(victim.credentialId, victim.passkey.key)).toMatchObject({ did: victim.did, proven: isProven });
    expect(await lookUp(victim.credentialId, thief.passkey.key)).toMatchObject({ did: thief.did, proven: true });
    expect(await available(victim)).toBe(false);
  });

  test('named by a thief whose DID has long been final, right after the owner’s registration', async () => {
    const thief = await person();
    const txHash = await onChain(thief);
    await chain.mine(DEPTH);
    const victim = await person('email');
    expect(await record(victim, { txHash: await onChain(victim), isProven: true })).toBe('recorded');
    await settle(0);
    expect(await lookUp(victim.credentialId)).toMatchObject({ did: victim.did, final: false, proven: true });
    const named = { ...thief, credentialId: victim.credentialId };
    expect(await record(named, { txHash, isProven: true })).toBe('recorded');
    await settle(0);
    expect((await lookUp(victim.credentialId)).did).toBe(victim.did);
    await settle();
    expect((await lookUp(victim.credentialId)).did).toBe(victim.did);
    expect((await lookUp(victim.credentialId, victim.passkey.key)).proven).toBe(true);
  });

  test('with a proof by another key than the account’s changes nothing', async () => {
    const victim = await person('email');
    await record(victim, { txHash: await onChain(victim), isProven: true });
    await settle();
    const before = await lookUp(victim.credentialId);
    const thief = await person('handle', { credentialId: victim.credentialId });
    const answer = await record(thief, { txHash: await onChain(thief), by: createPasskey() });
    expect(['recorded', 'proof_invalid signature']).toContain(answer);
    await settle();
    expect(await lookUp(victim.credentialId)).toEqual(before);
  });

  test('claimed with false proofs of transactions that never come stops no further registration of the owner', async () => {
    const victim = await person('email');
    await record(victim, { txHash: await onChain(victim) });
    await settle();
    for (let i = 0; i < 3; i++) {
      const thief = await person('handle', { credentialId: victim.credentialId });
      expect(await record(thief, { txHash: `0x${String(i).padStart(64, 'a')}`, isProven: true })).toBe('recorded');
    }
    expect(await lookUp(victim.credentialId)).toMatchObject({ did: victim.did, status: 'confirmed' });
    const second = { ...victim, identifier: `second-${victim.identifier}` };
    const { txHash } = await lookUp(victim.credentialId);
    expect(await record(second, { txHash })).toBe('recorded');
    await settle();
    expect(await lookUp(victim.credentialId)).toMatchObject({ did: victim.did });
  });

  test('with a contract that shows the owner’s key does not lead the owner’s key elsewhere', async () => {
    const victim = await person('email');
    await record(victim, { txHash: await onChain(victim) });
    await settle();
    // The thief controls this contract, and it says that its key is the victim's.
    const smartAccount = await deployAgain(victim.passkey);
    const did = `did:pkh:eip155:84532:${smartAccount}`;
    const thief = await person('handle', { did, smartAccount, credentialId: victim.credentialId });
    const txHash = await onChain(thief);
    expect(await record(thief, { txHash })).toBe('credential_already_registered');
    await record(thief, { txHash, by: createPasskey() });
    await settle();
    for (const key of [undefined, victim.passkey.key])
      expect(await lookUp(victim.credentialId, key)).toMatchObject({ did: victim.did, status: 'confirmed' });
  });

  test('taken first is the owner’s again by a proof', async () => {
    const victim = await person('email');
    const thief = await person('handle', { credentialId: victim.credentialId });
    await record(thief, { txHash: await onChain(thief), isProven: true });
    await settle();
    const txHash = await onChain(victim);
    expect(await record(victim, { txHash })).toBe('credential_already_registered');
    expect(await record(victim, { txHash, isProven: true })).toBe('recorded');
    await settle();
    expect(await lookUp(victim.credentialId, victim.passkey.key)).toMatchObject({ did: victim.did, proven: true });
    expect(await lookUp(victim.credentialId)).toMatchObject({ ambiguous: true, proven: false });
  });
});

test('an account that changes its key after its proof was verified keeps its record', async () => {
  const one = await person('email');
  expect(await record(one, { txHash: await onChain(one), isProven: true })).toBe('recorded');
  await settle(0);
  expect(await lookUp(one.credentialId)).toMatchObject({ status: 'confirmed', final: false, proven: true });
  const code = await chain.rpc('eth_getCode', [await chain.deployHolder(createPasskey().key), 'latest']);
  await chain.rpc('anvil_setCode', [one.smartAccount, code]);
  await settle();
  expect(await lookUp(one.credentialId)).toMatchObject({ status: 'confirmed', final: true, proven: true });
  expect(await available(one)).toBe(false);
});

describe('M1, H3: a copied public transaction', () => {
  test('recorded first, under a throw-away handle, keeps the owner from nothing', async () => {
    for (const isProven of [false, true]) {
      const victim = await person('email');
      const txHash = await onChain(victim);
      const thief = { ...victim, ...(await throwAway()) };
      expect(await record(thief, { txHash, more: { smartAccount: `0x${'ee'.repeat(20)}` } })).toBe('recorded');
      expect((await lookUp(thief.credentialId)).smartAccount).toBeNull();
      await settle();
      const copied = await lookUp(thief.credentialId);
      expect(copied).toMatchObject({ did: victim.did, smartAccount: victim.smartAccount, proven: false });
      expect(copied.proofs).toEqual({ identifier: null, controller: null, did: 'address' });
      expect(await record(victim, { txHash, isProven })).toBe('recorded');
      await settle();
      const found = await lookUp(victim.credentialId);
      expect(found).toMatchObject({ did: victim.did, smartAccount: victim.smartAccount, proven: isProven });
      expect(found.proofs.identifier).toBe('attestation');
    }
  });

  test('with an alias does not prove its copier, nor take the handle', async () => {
    const victim = await person();
    const txHash = await onChain(victim);
    const thief = { ...victim, credentialId: (await throwAway()).credentialId };
    expect(await record(thief, { txHash })).toBe('recorded');
    await settle();
    expect(await lookUp(thief.credentialId)).toMatchObject({ did: victim.did, proven: false });
    expect(await record(victim, { txHash, isProven: true })).toBe('recorded');
    await settle();
    const found = await lookUp(victim.credentialId);
    expect(found).toMatchObject({ did: victim.did, proven: true });
    expect(found.proofs).toEqual({ identifier: 'alias', controller: 'passkey', did: 'address' });
  });

  test('with the proof of the copier’s own passkey is refuted', async () => {
    const victim = await person('email');
    const txHash = await onChain(victim);
    const thief = { ...victim, ...(await throwAway()) };
    const answer = await record(thief, { txHash, by: createPasskey() });
    expect(['recorded', 'proof_invalid signature']).toContain(answer);
    await settle();
    expect((await lookUp(thief.credentialId))?.proofs.controller ?? null).toBeNull();
    expect(await record(victim, { txHash })).toBe('recorded');
  });

  test('a transaction that was invented keeps nobody out, from the first moment', async () => {
    const victim = await person('email');
    const thief = { ...victim, ...(await throwAway()) };
    expect(await record(thief, { txHash: NOWHERE })).toBe('recorded');
    expect(await record(victim, { txHash: await onChain(victim) })).toBe('recorded');
    await settleUnseen();
    expect([await lookUp(thief.credentialId), (await lookUp(victim.credentialId)).status]).toEqual([
      undefined,
      'confirmed',
    ]);
  });
});

describe('H2: a handle that the registry gives to somebody', () => {
  test('is taken by no passkey, before or after its owner has recorded it', async () => {
    const victim = await person();
    const txHash = await onChain(victim);
    const thief = await person('handle', { identifier: victim.identifier });
    const own = await onChain(thief, false);
    for (const isProven of [false, true])
      expect(await record(thief, { txHash: own, isProven })).toBe('identifier_taken');
    expect((await t.call('GET /api/aliases/check', { alias: victim.identifier })).body.available).toBe(false);
    expect(await record(victim, { txHash })).toBe('recorded');
    await settle();
    for (const isProven of [false, true])
      expect(await record(thief, { txHash: own, isProven })).toBe('identifier_taken');
    expect((await lookUp(victim.credentialId)).proofs.identifier).toBe('alias');
  });

  test('that a stranger had recorded before is its owner’s', async () => {
    const thief = await person();
    expect(await record(thief, { txHash: await onChain(thief, false), isProven: true })).toBe('recorded');
    await settle();
    const victim = await person('handle', { identifier: thief.identifier });
    expect(await record(victim, { txHash: await onChain(victim) })).toBe('recorded');
    await settle();
    expect((await lookUp(victim.credentialId)).proofs.identifier).toBe('alias');
    expect((await lookUp(thief.credentialId)).proofs.identifier).toBeNull();
  });
});

describe('a proof is for one registration alone', () => {
  const other = `0x${'0b'.repeat(32)}` as const;

  test.each<[string, ProofOptions['change']]>([
    ['vault', { registrarDidHash: other }],
    ['chain', { chainId: 8453 }],
    ['registry', { registry: `0x${'0c'.repeat(20)}` }],
    ['DID', { didHash: other }],
    ['handle', { aliasHash: other }],
    ['account', { smartAccount: `0x${'0d'.repeat(20)}` }],
    ['credential', { credentialId: 'AAECAwQFBgcICQoLDA0OEA' }],
    ['address', { identifierHash: other }],
  ])('recorded: 403 proof_invalid challenge for that of another %s', async (_, change = {}) => {
    const one = await person();
    expect(await record(one, { txHash: await onChain(one), proof: { change } })).toBe('proof_invalid challenge');
  });

  test.each<[string, Ceremony]>([
    ['origin', { origin: 'https://evil.example' }],
    ['rp_id', { rpId: 'evil.example' }],
    ['cross_origin', { clientData: { crossOrigin: true } }],
    ['user_verification', { flags: 0x01 }],
  ])('recorded: 403 proof_invalid %s', async (reason, ceremony) => {
    const one = await person();
    expect(await record(one, { txHash: await onChain(one), proof: { ceremony } })).toBe(`proof_invalid ${reason}`);
  });

  test('of another vault on the same chain, replayed whole, is worth nothing here', async () => {
    const one = await person();
    const body = await bodyOf(one, { txHash: await onChain(one), isProven: true });
    const other = await start({ REGISTRAR_DID: 'did:web:other.example' });
    const reply = await other.call('POST /api/dids', body);
    await other.stop();
    expect([reply.status, reply.body.error, reply.body.reason]).toEqual([403, 'proof_invalid', 'challenge']);
    expect((await t.call('POST /api/dids', body)).status).toBe(200);
  });

  test('with an address, of another attestation of the same address', async () => {
    const one = await person('email');
    const body = await bodyOf(one, { txHash: await onChain(one), isProven: true });
    await t.clock.advance(1_000);
    const reply = await t.call('POST /api/dids', { ...body, attestation: await attest(one.identifier) });
    expect([reply.body.error, reply.body.reason]).toEqual(['proof_invalid', 'challenge']);
  });

  test('version 1 is refused, and a retry is answered what is stored, also after the proof’s end', async () => {
    const one = await person();
    const body = await bodyOf(one, { txHash: await onChain(one), isProven: true });
    const old = await t.call('POST /api/dids', { ...body, proofExpiresAt: undefined });
    expect([old.body.error, old.body.reason]).toEqual(['proof_invalid', 'version']);
    const first = await t.call('POST /api/dids', body);
    await t.clock.advance(86_400_000);
    const again = await t.call('POST /api/dids', body);
    expect([again.status, again.body]).toEqual([200, first.body]);
  });
});

describe('an attested address', () => {
  test('is not taken by a claim whose proof is false: record, look-up and session stay', async () => {
    const victim = await person('email');
    await record(victim, { txHash: await onChain(victim) });
    await settle();
    const before = await lookUp(victim.credentialId);
    // Somebody who reads the mailbox for a moment, but has no key of the DID's account.
    const thief = await person('email', { identifier: victim.identifier });
    const txHash = await onChain(thief);
    expect(await record(thief, { txHash })).toBe('identifier_taken');
    const answer = await record(thief, { txHash, by: createPasskey() });
    expect(['recorded', 'proof_invalid signature']).toContain(answer);
    await settle();
    expect(await lookUp(victim.credentialId)).toEqual(before);
    expect([await available(victim), (await lookUp(thief.credentialId))?.proofs.identifier ?? null]).toEqual([
      false,
      null,
    ]);
  });

  test('is given back when the challenger’s transaction never comes', async () => {
    const victim = await person('email');
    await record(victim, { txHash: await onChain(victim) });
    await settle();
    const before = await lookUp(victim.credentialId);
    const thief = await person('email', { identifier: victim.identifier });
    expect(await record(thief, { txHash: NOWHERE.replace('01', '02'), isProven: true })).toBe('recorded');
    expect(await lookUp(victim.credentialId)).toEqual(before);
    await settleUnseen();
    expect([await lookUp(victim.credentialId), await available(victim)]).toEqual([before, false]);
    expect(await lookUp(thief.credentialId)).toBeUndefined();
  });
});

describe('§1.7 what a DID says of its account', () => {
  test('a did:pkh of this chain that names another account than the controller fails', async () => {
    const victim = await person();
    const thief = await person('handle', { did: victim.did });
    expect(await record(thief, { txHash: await onChain(thief) })).toBe('recorded');
    await settle();
    expect(await lookUp(thief.credentialId)).toBeUndefined();
  });

  test('a label is recorded, and proofs.did is null', async () => {
    const label = `did:web:bank${++people}.example`;
    const one = await person('handle', { did: label });
    expect(await record(one, { txHash: await onChain(one), isProven: true })).toBe('recorded');
    await settle();
    const found = await lookUp(one.credentialId);
    expect(found.proofs).toEqual({ identifier: 'alias', controller: 'passkey', did: null });
  });
});

describe('a controller that a stranger wrote', () => {
  test.each([
    ['loops for ever', '0x5b600056'],
    ['answers with megabytes', '0x623000006000f3'],
    ['answers with 64 bytes that are no key', '0x60406000f3'],
  ] as const)(
    '%s when it is asked for its key: the record is confirmed without one, and a proof fails',
    async (_, code) => {
      const one = await person('handle', { smartAccount: Hex.random(20) });
      const own = { ...one, did: `did:web:controller${++people}.example` };
      await chain.rpc('anvil_setCode', [own.smartAccount, code]);
      await chain.rpc('anvil_setBalance', [own.smartAccount, '0xde0b6b3a7640000']);
      const txHash = await callAs(chain.rpc, own.smartAccount, chain.registry, registerData({ did: own.did }));
      const second = { ...own, ...(await throwAway()) };
      expect(await record(own, { txHash })).toBe('recorded');
      expect(await record(second, { txHash, isProven: true })).toBe('recorded');
      await settle();
      expect(await lookUp(own.credentialId)).toMatchObject({ status: 'confirmed', final: true, proven: false });
      expect(await lookUp(second.credentialId)).toBeUndefined();
    },
  );

  test('logs megabytes in the transaction: the record fails, and nobody’s confirmation waits for it', async () => {
    const one = await person('handle', { smartAccount: Hex.random(20) });
    const own = { ...one, did: `did:web:controller${++people}.example` };
    // Calls the registry with what it is called with, and logs 1.3 MiB.
    const call = `60006000366000600073${chain.registry.slice(2)}5af150`;
    await chain.rpc('anvil_setCode', [own.smartAccount, `0x366000600037${call}621500006000a000`]);
    const { privateKey } = devAccount('alice');
    const data = registerData({ did: own.did });
    const { transactionHash } = await sendTransaction(chain.rpc, privateKey, { to: own.smartAccount, data });
    expect(await record(own, { txHash: transactionHash })).toBe('recorded');
    const victim = await person();
    await record(victim, { txHash: await onChain(victim) });
    await settle();
    expect(await lookUp(victim.credentialId)).toMatchObject({ status: 'confirmed', final: true });
    await settleUnseen();
    expect(await lookUp(own.credentialId)).toBeUndefined();
  });
});

/** Another contract that shows the key of a passkey. */
async function deployAgain({ key }: Passkey): Promise<Hex.Hex> {
  const { KeyHolder } = await compileContracts();
  const { abi, bytecode } = KeyHolder as NonNullable<typeof KeyHolder>;
  const args = [Bytes.toBigInt(key.x), Bytes.toBigInt(key.y)];
  const code = AbiConstructor.encode(AbiConstructor.fromAbi(abi), { bytecode, args: args as never });
  return (await create2(chain.rpc, code, Hex.random(32))).toLowerCase() as Hex.Hex;
}

/** A handle and a credential that nobody has. */
async function throwAway() {
  const name = `throwaway${++people}`;
  return { identifier: name, channel: 'handle' as const, credentialId: credentialOf(name) };
}
