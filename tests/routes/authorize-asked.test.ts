import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { Address } from 'ox';
import { DAY_MS } from '../../lib/base/clock.ts';
import { aliasHash, didHash } from '../../lib/identity/did.ts';
import { startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import { type Forwarder, startForwarder, type Trouble } from '../support/forwarder.ts';
import { createPeople, type Person } from '../support/people.ts';
import { nextBlockAfter } from '../support/registries.ts';
import { answerWith } from '../support/relay-world.ts';
import { APPS_HOST, APPS_VARS, appRequest, exchange, signIn } from '../support/sign-ups.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../support/vault.ts';

// What a sign-in says is asked of the chain then, whatever the vault has recorded.

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

const OPERATOR = { authorization: `Bearer ${VAULT_SECRET.replace('00', 'ff')}` };
/** Seconds after which an alias is its controller's for good. */
const ALIAS_SETTLES = 600n;

let node: Forwarder;
let witness: Forwarder;
let t: TestVault;
const start = async (vars: Record<string, string> = {}) => {
  t = await startVault(
    { ...chain.vars, ...APPS_VARS, RPC_URL: node.url, RATE_LIMIT_PROXY_PER_IP: '1000', ...vars },
    APPS_HOST,
  );
};
beforeEach(async () => {
  node = startForwarder(chain.url);
  witness = startForwarder(chain.url);
  await start();
});
afterEach(async () => {
  await t.stop();
  await node.stop();
  await witness.stop();
});
const restart = async (vars: Record<string, string>) => {
  await t.stop();
  await start(vars);
};

const people = createPeople(chain, () => t);

/** Lets all be due that is watched, until nothing is watched any more. */
async function settle(): Promise<void> {
  await nextBlockAfter(chain.rpc, ALIAS_SETTLES);
  await chain.mine(70);
  for (let turn = 0; turn < 3; turn++) {
    await t.clock.advance(31_000);
    await t.work();
  }
}

/** Somebody whose DID and identifier are registered, with a proof, and watched no more. */
async function settled(channel: Person['channel'], change: Partial<Person> = {}): Promise<Person> {
  const who = { ...(await people.own(channel)), ...change };
  const { txHash } = await people.publish(who);
  expect((await people.claim(who, txHash, { proof: true })).status).toBe(200);
  await settle();
  const rows = await t.rows('SELECT final, next_check_at FROM registrations WHERE did = :did', { did: who.did });
  expect(rows).toEqual([{ final: 1, next_check_at: null }]);
  return who;
}

/** What an app is answered, or the refusal of one of the two requests. */
async function signedIn(who: Person) {
  const request = appRequest();
  const code = await signIn(t, who, request);
  const { status, body } = code.status === 200 ? await exchange(t, request, code.body.code) : code;
  return status === 200
    ? body
    : [status, body.error, body.reason, body.hint ?? body.error_description].filter(Boolean).join(' ');
}

/** The handle and the address that the app gets. */
const namesOf = async (who: Person) => {
  const { preferred_username, email } = await signedIn(who);
  return [preferred_username, email];
};

describe('§3.1 a handle is in a sign-in while its alias leads to the DID', () => {
  test.each([{ FOLLOWER: 'false' }, { FOLLOWER: 'true' }, { INDEXER_URL: 'http://127.0.0.1:1' }])(
    'not once its owner has freed it, nor when another has it (%j)',
    async (setting) => {
      await restart({ ...setting, FINALITY_BLOCKS: '0' });
      const alice = await settled('handle');
      expect(await namesOf(alice)).toEqual([alice.identifier, undefined]);
      await people.act(alice, 'freeAlias', aliasHash(alice.identifier));
      expect(await namesOf(alice)).toEqual([undefined, undefined]);
      await nextBlockAfter(chain.rpc, BigInt((31 * DAY_MS) / 1000));
      const bob = { ...(await people.own('handle')), identifier: alice.identifier };
      await people.publish(bob);
      expect(await namesOf(alice)).toEqual([undefined, undefined]);
      expect(await signedIn(alice)).toMatchObject({ did: alice.did, proofs: { did: 'address' } });
    },
  );

  test('it is there again as soon as the alias leads there again, and others stay throughout', async () => {
    const alice = await settled('handle');
    const email = { ...alice, channel: 'email', identifier: 'asked@example.com' } as const;
    const [{ tx_hash = '' } = {}] = await t.rows('SELECT tx_hash FROM registrations WHERE did = :did', {
      did: alice.did,
    });
    expect((await people.claim(email, String(tx_hash), { proof: true })).status).toBe(200);
    await settle();
    await people.act(alice, 'freeAlias', aliasHash(alice.identifier));
    expect(await namesOf(alice)).toEqual([undefined, email.identifier]);
    await people.act(alice, 'claimAlias', aliasHash(alice.identifier), aliasHash('salt'));
    expect(await namesOf(alice)).toEqual([alice.identifier, email.identifier]);
  });

  const ALIASES = '0xe7511873';
  const RESOLVE_ALIAS = '0x0c81e27a';
  /** The node answers calls of these functions with an error of its own, not of the contract. */
  const silentOn =
    (...selectors: string[]): Trouble =>
    async (forward, _, body) => {
      const calls = [JSON.parse(body)].flat() as { id: number }[];
      const answers = [await (await forward()).json()].flat() as { id: number }[];
      const told = answers.map((answer) => {
        const asked = JSON.stringify(calls.find(({ id }) => id === answer.id));
        const error = { code: -32_000, message: 'header not found' };
        return selectors.some((one) => asked.includes(one)) ? { jsonrpc: '2.0', id: answer.id, error } : answer;
      });
      return Response.json(Array.isArray(JSON.parse(body)) ? told : told[0]);
    };

  test.each<[string, Trouble]>([
    ['is away', () => new Response('down', { status: 503 })],
    ['does not say where the alias leads', silentOn(ALIASES, RESOLVE_ALIAS)],
  ])('502 rpc_error: the node %s, and the code is good as soon as it does', async (_, trouble) => {
    const alice = await settled('handle');
    const request = appRequest();
    const { code } = (await signIn(t, alice, request)).body;
    node.trouble = trouble;
    const { status, body } = await exchange(t, request, code);
    expect([status, body.error]).toEqual([502, 'rpc_error']);
    node.trouble = undefined;
    expect((await exchange(t, request, code)).body.preferred_username).toBe(alice.identifier);
  });

  test('502 rpc_error nodes_disagree: one of two nodes still says that the alias leads there', async () => {
    await restart({ RPC_WITNESS_URL: witness.url });
    const alice = await settled('handle');
    await people.act(alice, 'freeAlias', aliasHash(alice.identifier));
    const lie = (_: string, params: readonly unknown[], result: unknown) =>
      JSON.stringify(params).includes(ALIASES) ? didHash(alice.did) : result;
    node.trouble = (forward, _, body) => answerWith(lie, forward, body);
    expect(await signedIn(alice)).toStartWith('502 rpc_error nodes_disagree');
    node.trouble = undefined;
    expect(await namesOf(alice)).toEqual([undefined, undefined]);
  });
});

describe('§3.4 a sign-in answers the DID of the passkey’s own account, and no label', () => {
  const FOREIGN = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
  test.each([
    `did:pkh:eip155:1:${FOREIGN}`,
    'did:web:bank.example',
    `did:hyper:base:${FOREIGN}`,
    `did:ethr:${FOREIGN}`,
  ])('404 not_found: %s', async (did) => {
    const mallory = await settled('email', { did });
    expect(await signedIn(mallory)).toStartWith('404 not_found This passkey has registered a DID that');
    const isOfChain = did.startsWith('did:pkh:');
    expect(await people.lookup(mallory)).toMatchObject({
      did,
      status: 'confirmed',
      proven: !isOfChain,
      proofs: { controller: 'passkey', did: null },
    });
  });

  test('404 not_found: the did:pkh of the own account, but of another chain', async () => {
    const made = await people.own('email');
    const did = `did:pkh:eip155:1:${Address.checksum(made.account)}`;
    const mallory = await settled('email', { ...made, did });
    expect(await signedIn(mallory)).toStartWith('404 not_found');
    expect(await people.lookup(mallory)).toMatchObject({ did, proven: false, proofs: { did: null } });
  });

  test('a DID that its address has moved on is the DID of who has it now', async () => {
    const alice = await settled('email');
    const bob = await people.own('email');
    await people.act(alice, 'offerDid', didHash(alice.did), bob.account);
    await people.act(bob, 'acceptDid', didHash(alice.did));
    const [{ tx_hash = '' } = {}] = await t.rows('SELECT tx_hash FROM registrations WHERE did = :did', {
      did: alice.did,
    });
    const claim = { ...bob, did: alice.did };
    expect((await people.claim(claim, String(tx_hash), { proof: true })).status).toBe(200);
    await settle();
    const account = bob.account.toLowerCase();
    expect(await signedIn(claim)).toMatchObject({ did: alice.did, account, proofs: { did: 'moved' } });
    expect(await signedIn(alice)).toStartWith('403 proof_invalid did');
  });
});

describe('§3.5 rows of the erased', () => {
  test('are in no sign-in: no address, and no proof of one', async () => {
    const alice = await settled('email');
    expect(await signedIn(alice)).toMatchObject({ email: alice.identifier });
    const erased = await t.call('POST /v1/console/person/erase', { identifier: alice.identifier }, OPERATOR);
    expect(erased.body).toMatchObject({ erased: true });
    const body = await signedIn(alice);
    expect(body).toMatchObject({ did: alice.did, proofs: { identifier: null, did: 'address' } });
    expect(body).not.toHaveProperty('email');
    expect(await people.lookup(alice)).toMatchObject({ proven: true, proofs: { identifier: null } });
  });
});
