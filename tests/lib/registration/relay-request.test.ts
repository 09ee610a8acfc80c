import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { type Abi, AbiEvent, AbiFunction, type Hex } from 'ox';
import { keysOfSigned } from '../../../client/wallet/assertion-keys.ts';
import { fromBase64url } from '../../../client/wallet/bytes.ts';
import { rawSignature } from '../../../client/wallet/der.ts';
import { didRegistry2Abi } from '../../../contracts/abi.ts';
import { didHash } from '../../../lib/identity/did.ts';
import type { Assertion } from '../../../lib/identity/passkey.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';
import { type Candidate, createCandidate, prove, startRelayChain } from '../../support/candidates.ts';
import { testClock, untilMined, whileTimePasses } from '../../support/clock.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import type { Ceremony } from '../../support/passkey.ts';
import { accountOf, consentFor, openRegistry, timeNow, ZERO } from '../../support/registries.ts';
import { type Reply, startVault, type TestVault } from '../../support/vault.ts';

const DAY = 86_400_000;
const FIELDS = 'credentialId, identifier, channel, did, smartAccount, pubKeyX, pubKeyY, proof';

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

let node: Forwarder;
let t: TestVault;
beforeEach(async () => {
  node = startForwarder(chain.url);
  t = await start();
});
afterEach(async () => {
  await t.stop();
  await node.stop();
});

async function start(vars: Record<string, string> = {}, options: Parameters<typeof startVault>[1] = {}) {
  const started = await startVault({ ...chain.vars, RPC_URL: node.url, ...vars }, { clock: testClock(), ...options });
  // The tables are made at first use.
  await started.call('GET /api/sessions/status');
  return started;
}

async function restart(vars: Record<string, string>): Promise<void> {
  await t.stop();
  t = await start(vars);
}

let people = 0;
const candidate = (by = t) => createCandidate(chain, `person${++people}`, by.clock.now());
type Body = Readonly<Record<string, unknown>>;

/** The body of a changed candidate, with the key of `by`. */
function again(one: Candidate, by: Candidate): Body {
  const { did, credentialId, smartAccount } = one;
  const { pubKeyX, pubKeyY } = by.body;
  return { ...one.body, did, credentialId, smartAccount, pubKeyX, pubKeyY, proof: prove(chain, one) };
}

const askOnce = (body: Body, headers = {}, by: Pick<TestVault, 'call'> = t) =>
  whileTimePasses(t.clock, by.call('POST /api/dids', body, headers));

/** Asks; a moment passes wherever the chain takes one. */
const ask = (...given: Parameters<typeof askOnce>) => untilMined(() => askOnce(...given));

async function refusal(body: Body) {
  const reply = await ask(body);
  return [reply.status, reply.body.error];
}

/** The same with the reason of a proof's refusal. */
async function reason(body: Body) {
  const { status, body: answer } = await ask(body);
  expect(typeof answer.hint).toBe('string');
  return [status, answer.error, answer.reason];
}

/** Asks, and once its relay has come this far moves time on until the answer is there. */
async function askPatiently(body: Body, far: string): Promise<Reply> {
  const asked = t.call('POST /api/dids', body);
  await t.idle();
  expect(await statusOf(body)).toBe(far);
  return whileTimePasses(t.clock, asked, 500);
}

/** How far the newest relay of a DID has come. */
async function statusOf({ did }: Body): Promise<unknown> {
  const [row] = await t.rows(
    `SELECT relays.status FROM relays JOIN registrations ON registrations.id = registration_id WHERE did = :did
      ORDER BY relays.id DESC`,
    { did: String(did) },
  );
  return row?.['status'];
}

/** Nothing is mined until `work` has ended. */
async function withoutMining<T>(work: () => Promise<T>): Promise<T> {
  await chain.rpc('evm_setAutomine', [false]);
  return work().finally(async () => {
    await chain.rpc('evm_setAutomine', [true]);
    await chain.mine();
  });
}

/** A day passes for vault and chain, and afterwards the chain is where it was. */
async function aDayLater(work: () => Promise<void>): Promise<void> {
  const snapshot = await chain.rpc('evm_snapshot', []);
  await chain.rpc('evm_increaseTime', [DAY / 1000]);
  await chain.mine();
  await t.clock.advance(DAY);
  await work().finally(() => chain.rpc('evm_revert', [snapshot]));
}

/** What a look-up of the credential says to whom the address belongs. */
async function addressProofOf({ credentialId }: Pick<Candidate, 'credentialId'>): Promise<unknown> {
  return (await t.call('GET /api/dids/lookup', { credentialId })).body.proofs.identifier;
}

const counted = async () => (await t.rows('SELECT count(*) AS n FROM relays'))[0]?.['n'];

describe('POST /api/dids, relayed', () => {
  test('registers the DID on-chain for an account without ether, and answers 200 once it is mined', async () => {
    const alice = await candidate();
    const { status, body } = await ask(alice.body);
    expect(status).toBe(200);
    const { identifier } = alice.body;
    expect(body).toEqual({ ok: true, identifier, channel: 'email', txHash: body.txHash, status: 'confirmed' });
    expect(await chain.controllerOf(alice.did)).toBe(alice.smartAccount);
    const found = await t.call('GET /api/dids/lookup', { credentialId: alice.credentialId });
    const { smartAccount, did } = alice;
    expect(found.body).toMatchObject({ did, status: 'confirmed', proven: true, txHash: body.txHash, smartAccount });
  });

  test('puts no hash of the address on-chain', async () => {
    const alice = await candidate();
    const { txHash } = (await ask(alice.body)).body;
    const receipt = (await chain.rpc('eth_getTransactionReceipt', [txHash])) as { logs: { topics: string[] }[] };
    // Without `AliasRegistered`.
    const events = receipt.logs.map(({ topics }) => AbiEvent.fromAbi(didRegistry2Abi as Abi.Abi, topics[0] as Hex.Hex));
    expect(events.map(({ name }) => name)).toEqual(['DIDRegistered', 'RegisteredBy']);
  });

  test('answers 202 with the transaction when it is not mined within 20 seconds, and the retry joins it', async () => {
    const alice = await candidate();
    const first = await withoutMining(() => askPatiently(alice.body, 'signed'));
    const { identifier } = alice.body;
    const { txHash } = first.body;
    expect([first.status, first.body]).toEqual([
      202,
      { ok: true, identifier, channel: 'email', txHash, status: 'submitted' },
    ]);
    const again = await askPatiently(alice.body, 'mined');
    expect([again.status, again.body.txHash, again.body.status]).toEqual([200, txHash, 'confirmed']);
    expect(await counted()).toBe(1);
  });

  test('answers a retry from what is stored, also without a node and after the attestation has expired', async () => {
    const alice = await candidate();
    const first = await ask(alice.body);
    await t.clock.advance(DAY);
    node.trouble = () => new Response('', { status: 502 });
    const again = await ask(alice.body);
    expect([again.status, again.body]).toEqual([200, first.body]);
  });

  test('replays under an Idempotency-Key; another key of the passkey is another request', async () => {
    const alice = await candidate();
    const key = { 'Idempotency-Key': 'one' };
    const first = await ask(alice.body, key);
    const replayed = await ask(alice.body, key);
    expect([replayed.status, replayed.body]).toEqual([first.status, first.body]);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    const other = await ask({ ...alice.body, salt: '1' }, key);
    expect([other.status, other.body.error]).toEqual([422, 'idempotency_key_reused']);
  });

  test('takes the hash of the same registration when the client records it too', async () => {
    const alice = await candidate();
    const { txHash } = (await ask(alice.body)).body;
    const { identifier } = alice.body;
    const recorded = await ask({ ...alice.body, txHash });
    expect([recorded.status, recorded.body]).toEqual([200, { ok: true, identifier, channel: 'email', txHash }]);
  });

  test('keeps an address for its owner, who asks again for the same DID after another has claimed it', async () => {
    const name = `person${++people}`;
    const owner = await createCandidate(chain, name, t.clock.now());
    const first = await ask(owner.body);
    const thief = { ...(await createCandidate(chain, name, t.clock.now() + 1)), credentialId: 'A'.repeat(22) };
    const { credentialId } = thief;
    expect((await ask({ ...thief.body, credentialId, proof: prove(chain, thief) })).status).toBe(200);
    expect([await addressProofOf(owner), await addressProofOf(thief)]).toEqual(['attestation', null]);
    const { attestation } = (await createCandidate(chain, name, t.clock.now() + 2)).body;
    const fresh = { ...owner, body: { ...owner.body, attestation } };
    const back = await ask({ ...fresh.body, proof: prove(chain, fresh) });
    expect([back.status, back.body]).toEqual([200, first.body]);
    await t.work();
    expect([await addressProofOf(owner), await addressProofOf(thief)]).toEqual(['attestation', null]);
    expect(await counted()).toBe(2);
  });

  test('shows no transaction before there is one', async () => {
    const alice = await candidate();
    node.trouble = (forward, methods) =>
      methods.includes('eth_feeHistory') ? new Response('', { status: 502 }) : forward();
    const asked = askPatiently(alice.body, 'queued');
    await t.idle();
    const found = await t.call('GET /api/dids/lookup', { credentialId: alice.credentialId });
    expect(found.body).toMatchObject({ status: 'submitted', txHash: null, blockNumber: null });
    await asked;
  });
});

describe('what is missing or malformed', () => {
  test.each(FIELDS.split(', ').filter((name) => name !== 'channel'))(
    '400 Missing required fields: credentialId, identifier, channel, did, smartAccount, pubKeyX, pubKeyY, proof — %s',
    async (name) => {
      const alice = await candidate();
      const expected = [400, `Missing required fields: ${FIELDS}`];
      expect(await refusal({ ...alice.body, [name]: undefined })).toEqual(expected);
      expect(await refusal({ ...alice.body, [name]: '' })).toEqual(expected);
    },
  );

  test.each([
    ['Invalid credentialId', { credentialId: 'short' }],
    ['Invalid identifier', { identifier: 'nobody' }],
    ['Invalid did', { did: 'did:UPPER:x' }],
    ['Invalid smartAccount: expected 20-byte address', { smartAccount: '0x12' }],
    ['Invalid pubKeyX or pubKeyY: expected uint256 hex string', { pubKeyX: '0xzz' }],
    ['Invalid pubKeyX or pubKeyY: expected uint256 hex string', { pubKeyY: 12 }],
    ['Invalid salt: expected uint256 decimal or hex string', { salt: '-1' }],
    ['Invalid proof', { proof: { signature: 'AA' } }],
    ['Invalid proofExpiresAt', { proofExpiresAt: '1704067500' }],
    ['Invalid proofExpiresAt', { proofExpiresAt: 1.5 }],
    ['Invalid proofExpiresAt', { proofExpiresAt: -1 }],
  ])('400 %s', async (error, change) => {
    expect(await refusal({ ...(await candidate()).body, ...change })).toEqual([400, error]);
  });

  test('anything else in any field is refused, and nothing is stored', async () => {
    const wrong = [0, -1, true, [], {}, 'x'.repeat(5_000), '\ud800', '\u0000', '0x', { __proto__: null }, [[[]]]];
    const alice = await candidate();
    for (const name of [...FIELDS.split(', '), 'attestation', 'salt', 'proofExpiresAt'])
      for (const value of wrong) {
        const { status, body } = await ask({ ...alice.body, [name]: value });
        const { error, reason, hint, ...rest } = body;
        const refused = [400, 403].includes(status) && typeof error === 'string';
        expect({ name, value, refused, rest }).toEqual({ name, value, refused: true, rest: {} });
      }
    expect([await counted(), await t.rows('SELECT 1 FROM registrations')]).toEqual([0, []]);
  });

  test.each([
    ['without a channel', { channel: undefined }],
    ['for a handle, whose owner nobody vouches for', { channel: 'handle', identifier: 'alice' }],
  ])('400 Missing required fields: credentialId, identifier, channel, did, txHash — %s', async (_, change) => {
    const expected = [400, 'Missing required fields: credentialId, identifier, channel, did, txHash'];
    expect(await refusal({ ...(await candidate()).body, ...change })).toEqual(expected);
  });

  test('without a registrar key an absent txHash is missing', async () => {
    await restart({ REGISTRAR_PRIVATE_KEY: '' });
    const expected = [400, 'Missing required fields: credentialId, identifier, channel, did, txHash'];
    expect(await refusal((await candidate()).body)).toEqual(expected);
  });
});

describe('who may', () => {
  test('403 attestation_invalid, attestation_mismatch, attestation_expired', async () => {
    const [alice, bob] = [await candidate(), await candidate()];
    expect(await refusal({ ...alice.body, attestation: undefined })).toEqual([403, 'attestation_invalid']);
    expect(await refusal({ ...alice.body, attestation: bob.body['attestation'] })).toEqual([
      403,
      'attestation_mismatch',
    ]);
    await t.clock.advance(3_600_000);
    expect(await refusal(alice.body)).toEqual([403, 'attestation_expired']);
  });

  test('403 attestation_used', async () => {
    const [alice, bob] = [await candidate(), await candidate()];
    expect((await ask(alice.body)).status).toBe(200);
    const { attestation, identifier } = alice.body;
    const body = { ...bob.body, attestation, identifier };
    expect(await refusal({ ...body, proof: prove(chain, { ...bob, body }) })).toEqual([403, 'attestation_used']);
  });

  test('403 proof_invalid challenge, for another vault, chain, registry, DID, alias, account, credential, identifier, end', async () => {
    const [alice, bob] = [await candidate(), await candidate()];
    const zero = `0x${'0'.repeat(40)}` as const;
    const other = `0x${'1'.repeat(64)}` as const;
    const changes: Parameters<typeof prove>[2][] = [
      { registrarDidHash: other },
      { chainId: 8453 },
      { registry: zero },
      { didHash: other },
      { aliasHash: other },
      { smartAccount: zero },
      { credentialId: bob.credentialId },
      { identifierHash: other },
      { expiresAt: Number(alice.body['proofExpiresAt']) + 1 },
    ];
    for (const change of changes) {
      const body = { ...alice.body, proof: prove(chain, alice, change) };
      expect([change, ...(await reason(body))]).toEqual([change, 403, 'proof_invalid', 'challenge']);
    }
    expect((await ask(alice.body)).status).toBe(200);
  });

  test('403 proof_invalid challenge with a fresh attestation: a proof is for one attestation', async () => {
    const alice = await candidate();
    await t.clock.advance(1_000);
    const name = String(alice.body['identifier']).split('@')[0] ?? '';
    const { attestation } = (await createCandidate(chain, name, t.clock.now())).body;
    expect(await reason({ ...alice.body, attestation })).toEqual([403, 'proof_invalid', 'challenge']);
  });

  test('403 proof_invalid version: a proof of version 1, which no expiry comes with', async () => {
    const alice = await candidate();
    const body = { ...alice.body, proofExpiresAt: undefined };
    expect(await reason(body)).toEqual([403, 'proof_invalid', 'version']);
  });

  test('403 proof_invalid expired, and expires_too_late', async () => {
    const alice = await candidate();
    await t.clock.advance(600_000);
    expect(await reason(alice.body)).toEqual([403, 'proof_invalid', 'expired']);
    const bob = await candidate();
    const proofExpiresAt = Math.floor(t.clock.now() / 1000) + 661;
    const proof = prove(chain, bob, { expiresAt: proofExpiresAt });
    expect(await reason({ ...bob.body, proof, proofExpiresAt })).toEqual([403, 'proof_invalid', 'expires_too_late']);
  });

  test.each<[string, Ceremony]>([
    ['origin', { origin: 'https://evil.example' }],
    ['rp_id', { rpId: 'evil.example' }],
    ['cross_origin', { clientData: { crossOrigin: true } }],
    ['user_presence', { flags: 0x04 }],
    ['user_verification', { flags: 0x01 }],
    ['type', { clientData: { type: 'webauthn.create' } }],
  ])('403 proof_invalid %s', async (word, ceremony) => {
    const alice = await candidate();
    const body = { ...alice.body, proof: prove(chain, alice, {}, ceremony) };
    expect(await reason(body)).toEqual([403, 'proof_invalid', word]);
  });

  test('403 proof_invalid signature by another passkey', async () => {
    const [alice, bob] = [await candidate(), await candidate()];
    const proof = prove(chain, { ...alice, passkey: bob.passkey });
    expect(await reason({ ...alice.body, proof })).toEqual([403, 'proof_invalid', 'signature']);
  });

  test('403 proof_invalid account for one that is not the key’s, however well it is signed for', async () => {
    const [alice, bob] = [await candidate(), await candidate()];
    const { smartAccount, did } = bob;
    const proof = prove(chain, { ...alice, smartAccount, did });
    expect(await reason({ ...alice.body, smartAccount, did, proof })).toEqual([403, 'proof_invalid', 'account']);
    expect(await refusal({ ...alice.body, salt: 1 })).toEqual([
      400,
      'Invalid salt: expected uint256 decimal or hex string',
    ]);
    expect(await reason({ ...alice.body, salt: '1' })).toEqual([403, 'proof_invalid', 'account']);
  });

  test('403 proof_invalid for a key that is no point of the curve', async () => {
    const alice = await candidate();
    expect(await refusal({ ...alice.body, pubKeyX: '0x5', pubKeyY: '0x5' })).toEqual([403, 'proof_invalid']);
  });
});

describe('H3: the vault registers no DID that is not the account’s own', () => {
  test.each<[string, (registrarDid: string) => string]>([
    ['did:web of a bank', () => 'did:web:bank.example'],
    ["the registrar's own DID", (registrarDid) => registrarDid],
    ["somebody else's did:key", () => 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'],
    ['did:pkh of another account', () => `did:pkh:eip155:84532:0x${'0'.repeat(36)}dEaD`],
    ['did:hyper of another account', () => `did:hyper:base-sepolia:0x${'0'.repeat(36)}dEaD`],
  ])('403 did_not_yours for %s, and nothing is sent', async (_, didOf) => {
    const did = didOf(String(chain.vars['REGISTRAR_DID']));
    const mallory = await createCandidate(chain, `person${++people}`, t.clock.now(), did);
    const nonce = await chain.nonce();
    const reply = await ask(mallory.body);
    expect([reply.status, reply.body.error]).toEqual([403, 'did_not_yours']);
    expect([await chain.nonce(), await counted(), await t.rows('SELECT 1 FROM registrations')]).toEqual([nonce, 0, []]);
  });

  test('403 did_not_yours for the own account on another chain, or with more after it', async () => {
    const { body } = await candidate();
    const account = String(body['smartAccount']);
    const foreign = [
      `did:pkh:eip155:8453:${account}`,
      `did:hyper:base:${account}`,
      `did:pkh:eip155:84532:${account}:x`,
    ];
    for (const did of foreign) expect([did, ...(await refusal({ ...body, did }))]).toEqual([did, 403, 'did_not_yours']);
  });
});

test('H3: did:pkh and did:hyper of the account are registered, in any case', async () => {
  for (const method of ['did:pkh:eip155:84532', 'did:hyper:base-sepolia']) {
    const alice = await candidate();
    const did = `${method}:0x${alice.smartAccount.slice(2).toUpperCase()}`;
    const proof = prove(chain, { ...alice, did });
    expect([did, (await ask({ ...alice.body, did, proof })).status]).toEqual([did, 200]);
    expect(await chain.controllerOf(did)).toBe(alice.smartAccount);
  }
});

describe('conflicts', () => {
  test('409 did_taken is the word of the registry alone', async () => {
    const alice = await candidate();
    const did = `did:hyper:base-sepolia:${alice.smartAccount}`;
    await chain.register({ did });
    const proof = prove(chain, { ...alice, did });
    expect(await refusal({ ...alice.body, did, proof })).toEqual([409, 'did_taken']);
  });

  test('a DID that its account has registered already is recorded for another address, without a transaction', async () => {
    const alice = await candidate();
    const { body } = await ask(alice.body);
    const other = { ...(await createCandidate(chain, `person${++people}`, t.clock.now() + 1)), did: alice.did };
    const { smartAccount, passkey } = alice;
    const nonce = await chain.nonce();
    const joined = await ask(again({ ...other, smartAccount, passkey }, alice));
    expect([joined.status, joined.body.txHash, joined.body.status]).toEqual([200, body.txHash, 'confirmed']);
    expect(await chain.nonce()).toBe(nonce);
    await t.work();
    const { credentialId } = other;
    expect((await t.call('GET /api/dids/lookup', { credentialId })).body).toMatchObject({
      did: alice.did,
      proven: true,
    });
  });

  test('H1, S17: a relay that names the credential of another takes nothing; without the key it makes a look-up ambiguous', async () => {
    const [alice, mallory] = [await candidate(), await candidate()];
    expect((await ask(alice.body)).status).toBe(200);
    const { credentialId, did } = alice;
    const led = async () => (await t.call('GET /api/dids/lookup', { credentialId })).body;
    const named = { ...mallory, credentialId };
    expect((await ask(again(named, named))).status).toBe(200);
    expect(await led()).toMatchObject({ did, status: 'confirmed', ambiguous: true, proven: false });
    const { pubKeyX, pubKeyY } = alice.body;
    const exact = await t.call('GET /api/dids/lookup', { credentialId, pubKeyX, pubKeyY });
    expect(exact.body).toMatchObject({
      did,
      proven: true,
      proofs: { identifier: 'attestation', controller: 'passkey' },
    });
    expect(exact.body.ambiguous).toBeUndefined();
  });

  test('a look-up with the key brings what the key signed, from the first moment on, and not where it was', async () => {
    const alice = await candidate();
    expect((await ask(alice.body)).status).toBe(200);
    const { credentialId } = alice;
    const { pubKeyX, pubKeyY } = alice.body;
    const proof = alice.body['proof'] as Assertion;
    const look = async (query: object) => (await t.call('GET /api/dids/lookup', { credentialId, ...query })).body;
    const { signed } = await look({ pubKeyX, pubKeyY });
    const clientDataJSON = Buffer.from(proof.clientDataJSON, 'base64url');
    expect(signed).toEqual({
      authenticatorData: proof.authenticatorData,
      clientDataHash: createHash('sha256').update(clientDataJSON).digest('base64url'),
      signature: proof.signature,
    });
    const bytes = {
      authenticatorData: fromBase64url(signed.authenticatorData),
      clientDataHash: fromBase64url(signed.clientDataHash),
      signature: fromBase64url(signed.signature),
    };
    const keys = await keysOfSigned(bytes, { rawSignature });
    expect(keys.map(({ x, y }) => [x, y])).toContainEqual([pubKeyX as Hex.Hex, pubKeyY as Hex.Hex]);
    // Without the key, and with another, nothing is said of it.
    expect((await look({})).signed).toBeUndefined();
    const bob = await candidate();
    const other = await look({ pubKeyX: bob.body['pubKeyX'], pubKeyY: bob.body['pubKeyY'] });
    expect(other).toEqual({ error: 'not_found' });
    expect(JSON.stringify(await look({ pubKeyX, pubKeyY }))).not.toContain(
      clientDataJSON.toString('base64url').slice(0, 40),
    );
  });

  test('409 did_taken when only the chain knows the DID, and no nonce is spent on it', async () => {
    const alice = await candidate();
    const did = `did:hyper:base-sepolia:${alice.smartAccount}`;
    await chain.register({ did });
    const nonce = await chain.nonce();
    const body = { ...alice.body, did, proof: prove(chain, { ...alice, did }) };
    expect(await refusal(body)).toEqual([409, 'did_taken']);
    expect([await chain.nonce(), await counted()]).toEqual([nonce, 0]);
  });

  test('409 credential_already_registered when the account controls another DID on-chain', async () => {
    const alice = await candidate();
    const account = await accountOf(chain.rpc, chain.factory, 1, alice.passkey);
    const order = { account, registry: chain.registry, didHash: didHash('did:key:zanother') };
    const consent = consentFor({ ...order, expiresAt: await timeNow(chain.rpc) });
    const registry = openRegistry(chain.rpc, chain.registry, 2);
    await registry.act(devAccount('registrar'), 'registerFor', account.address, order.didHash, ZERO, consent);
    expect(await refusal(alice.body)).toEqual([409, 'credential_already_registered']);
  });

  test('409 credential_already_registered while another registration of the account is under way', async () => {
    const alice = await candidate();
    await withoutMining(async () => {
      expect((await askPatiently(alice.body, 'signed')).status).toBe(202);
      const { smartAccount, passkey } = alice;
      const did = `did:hyper:base-sepolia:${smartAccount}`;
      const second = { ...(await candidate()), did, smartAccount, passkey };
      expect(await refusal(again(second, alice))).toEqual([409, 'credential_already_registered']);
    });
  });

  test('an unproven record of the same DID is no conflict', async () => {
    const alice = await candidate();
    const copied = { credentialId: 'C'.repeat(21).concat('A'), identifier: 'copycat', channel: 'handle' };
    await ask({ ...copied, did: alice.did, txHash: `0x${'cc'.repeat(32)}` });
    expect((await ask(alice.body)).status).toBe(200);
  });
});

test('a request that waits for the node keeps nobody else from registering the address (S5)', async () => {
  const name = `person${++people}`;
  const slow = await createCandidate(chain, name, t.clock.now());
  const quick = await createCandidate(chain, name, t.clock.now() + 1);
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  node.trouble = async (forward, methods, body) => {
    if (methods.includes('eth_estimateGas') && body.includes(didHash(slow.did).slice(2))) {
      reach();
      await opened;
    }
    return forward();
  };
  const waiting = t.call('POST /api/dids', slow.body);
  await reached;
  const credentialId = 'Q'.repeat(21).concat('A');
  const body = { ...quick.body, credentialId, proof: prove(chain, { ...quick, credentialId }) };
  const answer = await ask(body, {}, t.from('203.0.113.9'));
  expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  open();
  await whileTimePasses(t.clock, waiting);
  expect((await ask(slow.body)).status).toBe(200);
});

test('a request that comes twice at once is one relay', async () => {
  const alice = await candidate();
  const replies = await Promise.all([ask(alice.body), ask(alice.body, {}, t.from('203.0.113.9'))]);
  expect(replies.map(({ status }) => status)).toEqual([200, 200]);
  expect(replies[0]?.body.txHash).toBe(replies[1]?.body.txHash);
  expect(await counted()).toBe(1);
});

describe('limits', () => {
  test('429 ip_limit_reached: each relay spends a slot of the IP, unless its session already did', async () => {
    await restart({ MAX_REGISTRATIONS_PER_IP: '2' });
    const [alice, bob, carol] = [await candidate(), await candidate(), await candidate()];
    const { identifier, did } = bob.body;
    await t.call('POST /api/sessions', { identifier, channel: 'email', did });
    expect((await ask(alice.body)).status).toBe(200);
    expect((await ask(bob.body)).status).toBe(200);
    const refused = await ask(carol.body);
    expect([refused.status, refused.body]).toEqual([
      429,
      { error: 'ip_limit_reached', limit: 'registrations-per-ip', retry_after: expect.closeTo(2_592_000, -2) },
    ]);
    expect((await t.call('GET /api/sessions/status')).body.ip_registrations).toBe(2);
    expect((await ask(carol.body, {}, t.from('203.0.113.9'))).status).toBe(200);
  });

  test('429 relay_limit_reached: exactly RELAY_DAILY_MAX in a rolling day, also after a restart', async () => {
    const one = await candidate();
    await restart({ RELAY_DAILY_MAX: '3' });
    const many = await Promise.all(Array.from({ length: 6 }, () => candidate()));
    const asked = await Promise.all(many.map(({ body }) => ask(body)));
    expect(asked.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429]);
    const refused = asked.find(({ status }) => status === 429);
    const full = { error: 'relay_limit_reached', limit: 'relays-per-day', retry_after: expect.closeTo(86_400, -2) };
    expect(refused?.body).toEqual(full);
    expect(refused?.headers.get('retry-after')).toBe('86400');
    expect(refused?.headers.get('ratelimit-policy')).toBe('"relays-per-day";q=3;w=86400');
    const second = await start({ RELAY_DAILY_MAX: '3' }, { database: t.database, clock: t.clock });
    const elsewhere = await second.call('POST /api/dids', one.body);
    expect([elsewhere.status, elsewhere.body]).toEqual([429, full]);
    await aDayLater(async () => {
      expect((await ask((await candidate()).body)).status).toBe(200);
    });
    await second.stop();
  });

  test('one /48 takes 5 of the 100 relays of a day; everybody else goes on (M3)', async () => {
    await restart({ RELAY_DAILY_MAX: '100' });
    const six = await Promise.all(Array.from({ length: 6 }, () => candidate()));
    const asked = await Promise.all(six.map(({ body }, n) => ask(body, {}, t.from(`2001:db8:1:${n}::1`))));
    expect(asked.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 429]);
    const refused = asked.find(({ status }) => status === 429);
    expect(refused?.body).toEqual({
      error: 'relay_limit_reached',
      limit: 'relays-per-network',
      retry_after: expect.closeTo(86_400, -2),
    });
    const next = six[asked.findIndex(({ status }) => status === 429)];
    expect((await ask(next?.body ?? {}, {}, t.from('2001:db8:2::1'))).status).toBe(200);
    await aDayLater(async () => {
      expect((await ask((await candidate()).body, {}, t.from('2001:db8:1::1'))).status).toBe(200);
    });
  });

  test('RELAY_DAILY_MAX=0 relays nothing', async () => {
    await restart({ RELAY_DAILY_MAX: '0' });
    const refused = await ask((await candidate()).body);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, null]);
  });

  test('429 rate_limited: RATE_LIMIT_PROXY_PER_IP, as each asks the chain', async () => {
    await restart({ RATE_LIMIT_PROXY_PER_IP: '1' });
    const alice = await candidate();
    expect((await ask(alice.body)).status).toBe(200);
    expect(await refusal(alice.body)).toEqual([429, 'rate_limited']);
  });
});

describe('what the operator has to see to', () => {
  const setBalance = (wei: bigint) => chain.rpc('anvil_setBalance', [chain.registrar, `0x${wei.toString(16)}`]);
  afterEach(() => setBalance(10n ** 20n));

  test('503 relay_unfunded below RELAY_MIN_BALANCE', async () => {
    const alice = await candidate();
    await setBalance(2_000_000_000_000_000n - 1n);
    expect(await refusal(alice.body)).toEqual([503, 'relay_unfunded']);
    expect(await counted()).toBe(0);
    await setBalance(2_000_000_000_000_000n);
    expect((await ask(alice.body)).status).toBe(200);
    await t.work();
    expect((await t.call('GET /readyz')).body).toMatchObject({ ok: true, relay: 'unfunded' });
  });

  test('503 relay_unfunded when the ether is gone between asking and signing: nothing was sent, everything is free again', async () => {
    const alice = await candidate();
    node.trouble = async (forward, methods) => {
      const answer = await forward();
      if (methods.includes('eth_getBalance') && !methods.includes('eth_feeHistory')) await setBalance(1n);
      return answer;
    };
    const refused = await askPatiently(alice.body, 'queued');
    expect([refused.status, refused.body]).toEqual([503, { error: 'relay_unfunded' }]);
    node.trouble = undefined;
    await setBalance(10n ** 20n);
    expect((await ask(alice.body)).status).toBe(200);
    expect(await t.rows('SELECT status, failure FROM relays')).toEqual([
      { status: 'failed', failure: 'withdrawn' },
      { status: 'mined', failure: null },
    ]);
  });

  test('502 rpc_error without the role of a registrar', async () => {
    await setRegistrar(false);
    const alice = await candidate();
    expect(await refusal(alice.body)).toEqual([502, 'rpc_error']);
    expect(await counted()).toBe(0);
    await setRegistrar(true);
    expect((await ask(alice.body)).status).toBe(200);
  });

  test('502 rpc_error when the chain cannot be asked, and nothing is stored', async () => {
    const alice = await candidate();
    node.trouble = () => new Response('', { status: 502 });
    expect(await refusal(alice.body)).toEqual([502, 'rpc_error']);
    expect([await counted(), await t.rows('SELECT 1 FROM attestation_uses')]).toEqual([0, []]);
  });

  test('502 rpc_error when the chain is gone before anything is signed: taken back, so that nothing is sent later', async () => {
    const alice = await candidate();
    node.trouble = (forward, methods) =>
      methods.includes('eth_feeHistory') ? new Response('', { status: 502 }) : forward();
    const nonce = await chain.nonce();
    const refused = await askPatiently(alice.body, 'queued');
    expect([refused.status, refused.body]).toEqual([502, { error: 'rpc_error' }]);
    node.trouble = undefined;
    await t.clock.advance(60_000);
    await t.work();
    expect(await chain.nonce()).toBe(nonce);
    expect((await ask(alice.body)).status).toBe(200);
    expect(await chain.nonce()).toBe(nonce + 1);
  });

  test('202 when only the answer to the broadcast was lost', async () => {
    const alice = await candidate();
    const lost = await withoutMining(() => {
      node.trouble = async (forward, methods) => {
        const answer = await forward();
        return methods.includes('eth_sendRawTransaction') ? new Response('', { status: 502 }) : answer;
      };
      return askPatiently(alice.body, 'signed');
    });
    expect(lost.status).toBe(202);
    node.trouble = undefined;
    expect((await askPatiently(alice.body, 'mined')).body).toMatchObject({
      txHash: lost.body.txHash,
      status: 'confirmed',
    });
  });

  test('never tells the key, the address or what was signed', async () => {
    await ask((await candidate()).body);
    const told = JSON.stringify(t.entries);
    const [attempt] = await t.rows('SELECT raw FROM relay_attempts');
    expect(told).not.toContain(devAccount('registrar').privateKey.slice(2));
    expect(told).not.toContain(String(attempt?.['raw']));
    expect(told).not.toContain('@example.com');
  });
});

async function setRegistrar(allowed: boolean): Promise<void> {
  const set = AbiFunction.fromAbi(didRegistry2Abi, 'setRegistrar');
  const data = AbiFunction.encodeData(set, [chain.registrar, allowed]);
  await sendTransaction(chain.rpc, devAccount('owner').privateKey, { to: chain.registry, data });
}

test('the owner of a relayed registration keeps the address from a thief, by the same request with a fresh code', async () => {
  await restart({ FINALITY_BLOCKS: '1' });
  const alice = await candidate();
  const first = await ask(alice.body);
  expect([first.status, first.body.status]).toEqual([200, 'confirmed']);
  const name = String(alice.body['identifier']).split('@')[0] ?? '';
  // Somebody who reads the mailbox for a moment registers the address for a DID of their own.
  await t.clock.advance(1_000);
  const thief = { ...(await createCandidate(chain, name, t.clock.now())), credentialId: 'T'.repeat(21).concat('A') };
  expect((await ask(again(thief, thief))).status).toBe(200);
  await settled();
  expect(await identifierProofs(alice, thief)).toEqual(['attestation', null]);

  await t.clock.advance(1_000);
  const { attestation, proofExpiresAt } = (await createCandidate(chain, name, t.clock.now())).body;
  const fresh = { ...alice, body: { ...alice.body, attestation, proofExpiresAt } };
  const back = await ask(again(fresh, fresh));
  expect([back.status, back.body.txHash, back.body.status]).toEqual([200, first.body.txHash, 'confirmed']);
  await settled();
  expect(await identifierProofs(alice, thief)).toEqual(['attestation', null]);
  const retried = await ask(again(fresh, fresh));
  expect([retried.status, retried.body.txHash, retried.body.status]).toEqual([200, first.body.txHash, 'confirmed']);
});

/** Everything is final afterwards. */
async function settled(): Promise<void> {
  await t.work();
  await chain.mine(2);
  await t.clock.advance(31_000);
  await t.work();
}

async function identifierProofs(...people: readonly Candidate[]): Promise<unknown[]> {
  const found = people.map(({ credentialId }) => t.call('GET /api/dids/lookup', { credentialId }));
  return (await Promise.all(found)).map(({ body }) => body.proofs.identifier);
}
