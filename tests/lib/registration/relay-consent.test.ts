import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { AbiFunction, type Hex } from 'ox';
import { didRegistry2Abi } from '../../../contracts/abi.ts';
import { RELAY_STUCK_BLOCKS } from '../../../lib/relay/track.ts';
import { deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { type Candidate, createCandidate, prove, type RelayChain, startRelayChain } from '../../support/candidates.ts';
import { testClock, untilMined, whileTimePasses } from '../../support/clock.ts';
import type { Ceremony } from '../../support/passkey.ts';
import { accountOf } from '../../support/registries.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

// What the second registry adds to a relay: the passkey's proof goes on-chain, and ends there too.

const DAY = 86_400_000;
const chains = {
  first: await startRelayChain({ startsAt: testClock().now(), edition: 1 }),
  second: await startRelayChain({ startsAt: testClock().now() }),
};
afterAll(() => Promise.all(Object.values(chains).map(({ stop }) => stop())));

let t: TestVault;
let chain: RelayChain;
async function open(which: keyof typeof chains): Promise<void> {
  chain = chains[which];
  t = await startVault(chain.vars, { clock: testClock() });
  await t.call('GET /api/sessions/status');
}
beforeEach(() => open('second'));
afterEach(() => t.stop());

let people = 0;
const candidate = () => createCandidate(chain, `consent${++people}`, t.clock.now());

/** Asks; time goes on until the answer is there. */
const askOnce = (body: Candidate['body']) => whileTimePasses(t.clock, t.call('POST /api/dids', body), 500);

async function ask(body: Candidate['body']) {
  const { status, body: answer } = await untilMined(() => askOnce(body));
  return [status, answer.error ?? answer.status, answer.reason].filter((part) => part !== undefined);
}

async function relayOf({ did }: Candidate) {
  const [row] = await t.rows(
    `SELECT relays.status, relays.failure, registrations.status AS claim, registrations.failure AS why
      FROM relays JOIN registrations ON registrations.id = registration_id WHERE did = :did`,
    { did },
  );
  return row;
}

test('one prompt serves vault and chain: the relayed call carries the proof of the request', async () => {
  const alice = await candidate();
  expect(await ask(alice.body)).toEqual([200, 'confirmed']);
  const [row] = await t.rows('SELECT tx_hash FROM registrations WHERE did = :did', { did: alice.did });
  const { input } = (await chain.rpc('eth_getTransactionByHash', [row?.['tx_hash']])) as { input: Hex.Hex };
  const [controller, , , consent] = AbiFunction.decodeData(AbiFunction.fromAbi(didRegistry2Abi, 'registerFor'), input);
  expect(controller.toLowerCase()).toBe(alice.smartAccount);
  expect(Number(consent.expiresAt)).toBe(Number(alice.body['proofExpiresAt']));
  const { clientDataJSON } = alice.body['proof'] as { clientDataJSON: string };
  expect(consent.assertion).toContain(Buffer.from(clientDataJSON, 'base64url').toString('hex'));
});

test('a squatted did:pkh is registered all the same; on the first registry it is did_taken', async () => {
  const alice = await candidate();
  await chain.register({ did: `did:pkh:eip155:84532:${alice.smartAccount}` });
  expect(await ask(alice.body)).toEqual([200, 'confirmed']);
  expect(await chain.controllerOf(alice.did)).toBe(alice.smartAccount);
  await t.stop();
  await open('first');
  const bob = await candidate();
  await chain.register({ did: bob.did });
  expect(await ask(bob.body)).toEqual([409, 'did_taken']);
});

test('the first registry is relayed to as before', async () => {
  await t.stop();
  await open('first');
  const alice = await candidate();
  expect(await ask(alice.body)).toEqual([200, 'confirmed']);
  expect(await chain.controllerOf(alice.did)).toBe(alice.smartAccount);
});

test('an account that exists consents without its creation code', async () => {
  const alice = await candidate();
  await (await accountOf(chain.rpc, chain.factory, 1, alice.passkey)).create();
  expect(await ask(alice.body)).toEqual([200, 'confirmed']);
});

test('an account of the second kind consents before it exists, by its own creation code', async () => {
  const { accountFactory2 } = await deployContracts(chain.rpc);
  await t.stop();
  t = await startVault({ ...chain.vars, ACCOUNT_FACTORY_2_ADDRESS: accountFactory2 }, { clock: testClock() });
  const first = await candidate();
  const { address: smartAccount } = await accountOf(chain.rpc, accountFactory2, 2, first.passkey);
  const alice = { ...first, smartAccount, did: `did:pkh:eip155:84532:${smartAccount}` };
  const { did, body } = alice;
  expect(await ask({ ...body, did, smartAccount, proof: prove(chain, alice) })).toEqual([200, 'confirmed']);
  expect(await chain.controllerOf(did)).toBe(smartAccount.toLowerCase());
});

describe('a proof that the registry would not read is refused before anything is stored', () => {
  const encode = (text: string) => new TextEncoder().encode(text);
  const clientData = (change: (text: string) => string): Ceremony => ({ clientDataJSON: encode(change('')) });
  const cases: readonly (readonly [string, (honest: string) => Ceremony, string])[] = [
    ['with blanks in its client data', (json) => clientData(() => json.replaceAll('":"', '": "')), 'client_data'],
    [
      'with long client data',
      (json) => clientData(() => json.replace('{', `{"x":"${'x'.repeat(1024)}",`)),
      'client_data',
    ],
    ['backed up without being eligible', () => ({ flags: 0x15 }), 'backup_state'],
    [
      'with a second challenge before its own',
      (json) => clientData(() => json.replace('{', '{"challenge":"AAAA",')),
      'signature',
    ],
  ];

  test.each(cases)('%s', async (_, ceremonyOf, reason) => {
    const alice = await candidate();
    const honest = Buffer.from((alice.body['proof'] as { clientDataJSON: string }).clientDataJSON, 'base64url');
    const proof = prove(chain, alice, {}, ceremonyOf(honest.toString()));
    expect(await ask({ ...alice.body, proof })).toEqual([403, 'proof_invalid', reason]);
    expect(await relayOf(alice)).toBeUndefined();
  });
});

test('a relay does not outlive its consent: its nonce is freed, and the registration fails', async () => {
  const [alice, nonce] = [await candidate(), await chain.nonce()];
  await chain.rpc('evm_setAutomine', [false]);
  const snapshot = await chain.rpc('evm_snapshot', []);
  expect((await askOnce(alice.body)).status).toBe(202);
  // The node loses the transaction, and blocks go by for more than a day.
  await chain.rpc('anvil_dropAllTransactions', []);
  await chain.rpc('evm_increaseTime', [DAY / 1000 + 600]);
  await chain.mine(RELAY_STUCK_BLOCKS + 1);
  await chain.rpc('anvil_dropAllTransactions', []);
  await t.clock.advance(DAY);
  for (let turn = 0; turn < 4; turn++) {
    await t.work();
    await chain.mine(13);
    await t.clock.advance(60_000);
  }
  expect(await relayOf(alice)).toEqual({
    status: 'failed',
    failure: 'consent_expired',
    claim: 'failed',
    why: 'consent_expired',
  });
  expect(await chain.nonce()).toBe(nonce + 1);
  expect(await chain.controllerOf(alice.did)).toBe(`0x${'0'.repeat(40)}`);
  await chain.rpc('evm_revert', [snapshot]);
  await chain.rpc('evm_setAutomine', [true]);
});
