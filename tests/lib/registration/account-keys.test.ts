import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Address, Base64, Hex } from 'ox';
import { LOOK_PAUSE_MIN_MS } from '../../../lib/holders/keys-store.ts';
import { parseIdentifier } from '../../../lib/identity/identifier.ts';
import { createKeys } from '../../../lib/identity/keys.ts';
import { KEY_LOOK_PAUSE_MS, KEY_UNSETTLED_MS } from '../../../lib/registration/look-again.ts';
import { KEY_NOTE_MS, KEYS_STALE_MS } from '../../../lib/registration/look-notes.ts';
import { signAttestation } from '../../../lib/verification/attestation.ts';
import { type Deployment, deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { proveRegistration } from '../../../scripts/dev-stack/passkey-proof.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { testClock, whileTimePasses } from '../../support/clock.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import { registerData, startTestChain, type TestChain } from '../../support/onchain.ts';
import { createPasskey, type Passkey } from '../../support/passkey.ts';
import { nextBlockAfter } from '../../support/registries.ts';
import { addKey, callAs, createSecond, removeKey, secondAddress } from '../../support/second-account.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../../support/vault.ts';

// Accounts of the second kind on a real chain: their keys come and go, and the vault's look-ups follow.

/** Longer than the pause between two looks at a registration. */
const PAUSE = 30_000;
const REGISTRAR_DID = 'did:web:registrar.example';

let chain: TestChain;
let contracts: Deployment;
let node: Forwarder;
let t: TestVault;
beforeAll(async () => {
  chain = await startTestChain();
  contracts = await deployContracts(chain.rpc);
});
afterAll(() => chain.stop());
beforeEach(async () => {
  node = startForwarder(chain.url);
  t = await start();
});
afterEach(async () => {
  await t.stop();
  await node.stop();
});

function start(vars: Record<string, string> = {}, startMs?: number): Promise<TestVault> {
  const settings = {
    ...chain.vars,
    RPC_URL: node.url,
    HYPERAUTH_FACTORY_ADDRESS: contracts.accountFactory,
    ACCOUNT_FACTORY_2_ADDRESS: contracts.accountFactory2,
    ACCOUNT_HELPER_ADDRESS: contracts.accountHelper,
    REGISTRAR_DID,
    MAX_REGISTRATIONS_PER_IP: '1000',
    RATE_LIMIT_PROXY_PER_IP: '6000',
    ...vars,
  };
  return startVault(settings, { clock: testClock(startMs) });
}

/** Another vault for this test, with other settings. */
async function restart(vars: Record<string, string>, startMs?: number): Promise<void> {
  await t.stop();
  t = await start(vars, startMs);
}

interface Device {
  readonly passkey: Passkey;
  readonly credentialId: string;
}

let devices = 0;

function newDevice(): Device {
  const credentialId = Base64.fromBytes(new TextEncoder().encode(`device ${++devices}`.padEnd(16, '.')), {
    url: true,
    pad: false,
  });
  return { passkey: createPasskey(), credentialId };
}

/** An account with a DID of its own and a handle, registered by itself. */
interface Owner {
  readonly account: Address.Address;
  readonly first: Device;
  readonly handle: string;
  readonly did: string;
  readonly txHash: string;
}

let owners = 0;

async function newOwner(): Promise<Owner> {
  const first = newDevice();
  const account = await createSecond(chain.rpc, contracts, first.passkey.key);
  const handle = `owner${++owners}`;
  const did = `did:pkh:eip155:84532:${account}`;
  const txHash = await callAs(chain.rpc, account, chain.registry, registerData({ did, handle }));
  return { account, first, handle, did, txHash };
}

/** Claims the owner's handle for a device, with a proof by its passkey; `by` is who signs. */
async function claim(owner: Owner, { credentialId, passkey }: Device, by = passkey) {
  const { did, handle, txHash, account } = owner;
  const request = { credentialId, identifier: handle, channel: 'handle', did };
  const vault = { registrar: REGISTRAR_DID, chainId: 84532, didRegistry: chain.registry };
  const proof = proveRegistration(by, vault, { ...request, smartAccount: account }, { now: t.clock.now() });
  const reply = await t.call('POST /api/dids', { ...request, txHash, ...proof });
  return reply.status === 200 ? 'recorded' : reply.body.error;
}

/** Lets all be due that is watched, and looks. */
async function look(): Promise<void> {
  await t.clock.advance(PAUSE);
  await t.work();
}

/** What a look-up of a device says, without its key and with it. */
async function found({ credentialId, passkey }: Device): Promise<[string, string]> {
  const told = async (query: Record<string, string>) => {
    const { status, body } = await t.call('GET /api/dids/lookup', query);
    if (status !== 200) return String(status);
    return `${body.did}${body.proven ? ', proven' : ''}${body.final ? ', final' : ''}`;
  };
  const { x, y } = passkey.key;
  const key = { pubKeyX: Hex.fromBytes(x), pubKeyY: Hex.fromBytes(y) };
  return [await told({ credentialId }), await told({ credentialId, ...key })];
}

const both = (answer: string): [string, string] => [answer, answer];
const gone = both('404');

const askState = ({ account }: Owner) => t.call('GET /api/accounts/state', { account });

describe('a key that is added', () => {
  test('joins with a credential of its own, for the same handle and DID, by its proof alone', async () => {
    const owner = await newOwner();
    expect(await claim(owner, owner.first)).toBe('recorded');
    await look();
    const phone = newDevice();
    await addKey(chain.rpc, owner.account, phone.passkey.key);
    expect(await claim(owner, phone)).toBe('recorded');
    await look();
    expect(await found(phone)).toEqual(both(`${owner.did}, proven, final`));
    expect(await found(owner.first)).toEqual(both(`${owner.did}, proven, final`));
    // The keys of both devices are the account's, but each credential is that of its own key.
    const [, other] = await found({ ...phone, passkey: owner.first.passkey });
    expect(other).toBe('404');
  });

  test('proves once the account has it in a final block, not before', async () => {
    await restart({ FINALITY_BLOCKS: '5' });
    const owner = await newOwner();
    await chain.mine(5);
    const phone = newDevice();
    await addKey(chain.rpc, owner.account, phone.passkey.key);
    expect(await claim(owner, phone)).toBe('recorded');
    await look();
    expect(await found(phone)).toEqual(both(`${owner.did}, proven`));
    await chain.mine(5);
    await look();
    expect(await found(phone)).toEqual(both(`${owner.did}, proven, final`));
  });

  test('proves nothing once a re-org has taken it away', async () => {
    await restart({ FINALITY_BLOCKS: '5' });
    const owner = await newOwner();
    await chain.mine(5);
    const phone = newDevice();
    await addKey(chain.rpc, owner.account, phone.passkey.key);
    await claim(owner, phone);
    await look();
    await chain.reorg(1);
    await look();
    expect(await found(phone)).toEqual(gone);
  });

  test('is refused before it is added, and so is a stranger', async () => {
    const owner = await newOwner();
    await claim(owner, owner.first);
    await look();
    expect(await claim(owner, newDevice())).toBe('proof_invalid');
    const stranger = newDevice();
    expect(await claim(owner, stranger, stranger.passkey)).toBe('proof_invalid');
    expect(await found(stranger)).toEqual(gone);
  });
});

describe('a key that is removed', () => {
  /** An owner with two devices, both known to the vault. */
  async function withTwo(): Promise<Owner & { readonly phone: Device }> {
    const owner = await newOwner();
    const phone = newDevice();
    await addKey(chain.rpc, owner.account, phone.passkey.key);
    for (const device of [owner.first, phone]) await claim(owner, device);
    await look();
    return { ...owner, phone };
  }

  test('stops answering, with and without the key, and the others go on', async () => {
    const owner = await withTwo();
    await removeKey(chain.rpc, owner.account, 0, owner.first.passkey.key);
    expect(await found(owner.first)).toEqual(both(`${owner.did}, proven, final`));
    await askState(owner);
    await look();
    expect(await found(owner.first)).toEqual(gone);
    expect(await found(owner.phone)).toEqual(both(`${owner.did}, proven, final`));
    // It had its part in the registration, but no credential leads there by it any more.
    const another = { ...newDevice(), passkey: owner.first.passkey };
    expect(await claim(owner, another)).toBe('recorded');
    await look();
    expect(await found(another)).toEqual(gone);
    // Once the registration is old, it proves nothing.
    await chain.mine(64);
    await claim(owner, { ...newDevice(), passkey: owner.first.passkey });
    await look();
    const [last] = await t.rows(`SELECT status, failure FROM registrations ORDER BY id DESC LIMIT 1`);
    expect(last).toMatchObject({ status: 'failed', failure: 'proof_invalid' });
    // The handle stays with its DID.
    expect((await t.call('GET /api/aliases/check', { alias: owner.handle })).body.available).toBe(false);
  });

  test('answers again once it is there again', async () => {
    const owner = await withTwo();
    await removeKey(chain.rpc, owner.account, 1, owner.phone.passkey.key);
    await askState(owner);
    await look();
    expect(await found(owner.phone)).toEqual(gone);
    await addKey(chain.rpc, owner.account, owner.phone.passkey.key);
    await askState(owner);
    await look();
    expect(await found(owner.phone)).toEqual(both(`${owner.did}, proven, final`));
  });

  test('goes on answering until that is final, and where a re-org takes the removal back', async () => {
    await restart({ FINALITY_BLOCKS: '5' });
    const owner = await withTwo();
    await chain.mine(5);
    await look();
    const answer = both(`${owner.did}, proven, final`);
    await removeKey(chain.rpc, owner.account, 1, owner.phone.passkey.key);
    await askState(owner);
    await look();
    expect(await found(owner.phone)).toEqual(answer);
    await chain.reorg(1);
    await chain.mine(6);
    await t.clock.advance(KEY_UNSETTLED_MS);
    await look();
    expect(await found(owner.phone)).toEqual(answer);
    await removeKey(chain.rpc, owner.account, 1, owner.phone.passkey.key);
    await askState(owner);
    await look();
    expect(await found(owner.phone)).toEqual(answer);
    await chain.mine(5);
    // Nobody asks any more: it is looked at until it is final.
    await look();
    expect(await found(owner.phone)).toEqual(gone);
  });

  test('is found out by a look-up that is not answered from the chain, after ten minutes', async () => {
    const owner = await withTwo();
    await removeKey(chain.rpc, owner.account, 1, owner.phone.passkey.key);
    await t.clock.advance(KEYS_STALE_MS - KEY_NOTE_MS - 1);
    await found(owner.phone);
    await t.work();
    const { length } = node.methods;
    const answer = both(`${owner.did}, proven, final`);
    expect(await found(owner.phone)).toEqual(answer);
    await t.clock.advance(KEY_NOTE_MS + 1);
    expect(await found(owner.phone)).toEqual(answer);
    expect(node.methods.length).toBe(length);
    await t.work();
    // Two look-ups, one account: one look.
    expect((await t.call('GET /metrics')).text).toContain('vault_key_looks_total{outcome="removed"} 1\n');
    expect(await found(owner.phone)).toEqual(gone);
  });

  test('is found out by the follower, and nobody needs to ask', async () => {
    await restart({ FOLLOWER: 'true' });
    const owner = await withTwo();
    await look();
    await removeKey(chain.rpc, owner.account, 1, owner.phone.passkey.key);
    await look();
    await t.clock.advance(KEY_LOOK_PAUSE_MS);
    await t.work();
    expect(await found(owner.phone)).toEqual(gone);
    expect(await found(owner.first)).toEqual(both(`${owner.did}, proven, final`));
  });

  test("is no matter of a stranger's events", async () => {
    await restart({ FOLLOWER: 'true' });
    const owner = await withTwo();
    const [x, y] = [Hex.fromBytes(owner.phone.passkey.key.x), Hex.fromBytes(owner.phone.passkey.key.y)];
    const stranger = `0x${'5b'.repeat(20)}`;
    // KeyRemoved(x, y, 1), emitted by another contract.
    const topic = '9121d9d69abaa032ca71ab2e1381e05aaa269cee7b2da7aecdeb9bb04eb940b7';
    const code = `0x7f${y.slice(2)}5f5260016020527f${x.slice(2)}7f${topic}60405fa200`;
    await chain.rpc('anvil_setCode', [stranger, code]);
    await callAs(chain.rpc, devAccount('alice').address, stranger, '0x');
    for (let i = 0; i < 3; i++) await look();
    expect(await found(owner.phone)).toEqual(both(`${owner.did}, proven, final`));
    const looks = await t.rows(`SELECT count(*) AS known FROM key_accounts WHERE account = '${stranger}'`);
    expect(looks[0]?.['known']).toBe(0);
  });

  test('stays while the chain cannot be asked, or answers nonsense', async () => {
    const owner = await withTwo();
    await removeKey(chain.rpc, owner.account, 1, owner.phone.passkey.key);
    await askState(owner);
    for (const trouble of [
      () => new Response('down', { status: 503 }),
      async (forward: () => Promise<Response>) => {
        const answers = [(await (await forward()).json()) as { id: number }].flat();
        const errors = answers.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32005, message: 'too many' } }));
        return Response.json(errors.length > 1 ? errors : errors[0]);
      },
    ]) {
      node.trouble = trouble;
      await t.clock.advance(60_000);
      await t.work();
      expect(await found(owner.phone)).toEqual(both(`${owner.did}, proven, final`));
    }
    node.trouble = undefined;
    await t.clock.advance(60_000);
    await t.work();
    expect(await found(owner.phone)).toEqual(gone);
  });
});

test('a turn looks at its share of LOOKS_PER_MINUTE at most, the next one after a pause', async () => {
  await restart({ LOOKS_PER_MINUTE: '60' });
  const share = (60 * KEY_LOOK_PAUSE_MS) / 60_000;
  const owner = await newOwner();
  await claim(owner, owner.first);
  await look();
  for (let i = 0; i < share; i++) {
    const args = { account: `0xc0de${i.toString(16).padStart(36, '0')}` };
    await t.database.execute({
      sql: `INSERT INTO key_accounts (account, checked_at, due_at) VALUES (:account, 0, 0)`,
      args,
    });
  }
  await t.database.execute({ sql: `UPDATE key_accounts SET due_at = 1 WHERE checked_at > 0`, args: {} });
  const due = async () =>
    (await t.rows(`SELECT count(*) AS due FROM key_accounts WHERE due_at IS NOT NULL`))[0]?.['due'];
  await t.clock.advance(KEY_LOOK_PAUSE_MS);
  await t.work();
  expect(await due()).toBe(1);
  await t.work();
  expect(await due()).toBe(1);
  await t.clock.advance(KEY_LOOK_PAUSE_MS);
  await t.work();
  expect(await due()).toBe(0);
});

test('a look asks for keys, DID and alias in one request', async () => {
  const owner = await newOwner();
  await claim(owner, owner.first);
  await look();
  // Nobody can take the alias any more.
  await nextBlockAfter(chain.rpc, 600n);
  await chain.mine(70);
  await look();
  await look();
  const asked: string[] = [];
  node.trouble = (forward, _, body) => {
    asked.push(body);
    return forward();
  };
  await t.clock.advance(LOOK_PAUSE_MIN_MS);
  await t.work();
  expect(asked).toHaveLength(1);
  const [getKeys, resolve, aliases] = ['0x2150c518', '0x5c23bdf5', '0xe7511873'];
  for (const selector of [getKeys, resolve, aliases]) expect(asked[0]).toContain(selector);
});

describe('an account that is not there yet', () => {
  const relays = { REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey };

  /** The body by which the vault registers a device's DID; `identifier` is its email address. */
  async function bodyFor(device: Device, account: Address.Address, identifier: string) {
    const now = t.clock.now();
    const attestation = signAttestation(createKeys(Hex.toBytes(`0x${VAULT_SECRET}`)).attestation, {
      identifier: parseIdentifier('email', identifier),
      verifiedAt: now,
      ttlSeconds: 300,
      registrar: REGISTRAR_DID,
    });
    const { credentialId, passkey } = device;
    const who = { credentialId, identifier, channel: 'email', did: `did:pkh:eip155:84532:${account}` };
    const given = { ...who, smartAccount: account.toLowerCase(), attestation };
    const vault = { registrar: REGISTRAR_DID, chainId: 84532, didRegistry: chain.registry };
    const { x, y } = passkey.key;
    const key = { pubKeyX: Hex.fromBytes(x), pubKeyY: Hex.fromBytes(y) };
    return { ...given, ...key, ...proveRegistration(passkey, vault, given, { now }) };
  }

  async function register(device: Device, account: Address.Address, identifier: string) {
    const asked = t.call('POST /api/dids', await bodyFor(device, account, identifier));
    const { status, body } = await whileTimePasses(t.clock, asked, 500);
    return [status, body.txHash ?? body.error, body.status ?? body.reason];
  }

  test('proves by the key that its address follows from, and is followed once it is there', async () => {
    // The registry compares the end of the consent with the time of its block.
    await restart(relays, Date.now());
    await t.work();
    const [first, phone] = [newDevice(), newDevice()];
    const account = await secondAddress(chain.rpc, contracts, first.passkey.key);
    const [status, txHash] = await register(first, account, 'prediction@example.com');
    expect([status, await chain.rpc('eth_getCode', [account, 'latest'])]).toEqual([200, '0x']);
    await look();
    expect((await found(first))[1]).toStartWith(`did:pkh:eip155:84532:${account}, proven`);
    // A stranger's key is not the account's, whose address follows from another.
    expect(await register(phone, account, 'prediction@example.com')).toEqual([403, 'proof_invalid', 'account']);

    await createSecond(chain.rpc, contracts, first.passkey.key);
    await addKey(chain.rpc, account, phone.passkey.key);
    // The DID is registered: the second key joins without a transaction of its own.
    expect(await register(phone, account, 'prediction@example.com')).toEqual([200, txHash, 'confirmed']);
    await look();
    expect((await found(phone))[1]).toStartWith(`did:pkh:eip155:84532:${account}, proven`);

    await removeKey(chain.rpc, account, 0, first.passkey.key);
    expect(await register(first, account, 'other@example.com')).toEqual([403, 'proof_invalid', 'account']);
    await t.clock.advance(KEYS_STALE_MS);
    await found(first);
    await look();
    expect(await found(first)).toEqual(gone);
    expect((await found(phone))[1]).toStartWith(`did:pkh:eip155:84532:${account}, proven`);
  });

  test('proves nothing once its owners have put other code under it, whatever that says (L15)', async () => {
    await restart(relays, Date.now());
    await t.work();
    const first = newDevice();
    const account = await createSecond(chain.rpc, contracts, first.passkey.key);
    // The same code of another deployment answers that the key is its own, as any code can.
    const { accountFactory2: factory } = await deployContracts(chain.rpc, { entryPoint: '0.8' });
    const other = await chain.rpc('eth_call', [{ to: factory, data: '0x5c60da1b' }, 'latest']);
    const slot = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
    await chain.rpc('anvil_setStorageAt', [account, slot, other]);
    expect(await register(first, account, 'upgraded@example.com')).toEqual([403, 'proof_invalid', 'account']);
  });
});
