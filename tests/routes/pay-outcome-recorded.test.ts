import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { Hex } from 'ox';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { ENTRY_POINTS } from '../../scripts/dev-stack/entrypoints.ts';
import { mintUsdc, placeUsdc, USDC } from '../../scripts/dev-stack/usdc.ts';
import type { SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { createdAccount2, setTime, timeOf } from '../support/account2.ts';
import { OUTCOME_NAMES, type OutcomeName, type Recorded, recordedOf, sayingOf } from '../support/pay-page/outcomes.ts';
import { freshNonce, handleCalls, type OrderTerms, paymentCall } from '../support/payment-operations.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// What `GET /pay/outcome` answers at each turn of a payment, on a real chain. The tests of the confirm page are given
// these answers (`tests/support/pay-page/outcomes.json`), and this one holds them to the route. `RECORD_OUTCOMES=1`
// writes them.
const isRecording = Boolean(process.env['RECORD_OUTCOMES']);
const FILE = join(import.meta.dir, '../support/pay-page/outcomes.json');

const FINALITY_BLOCKS = 3;
/** More than the vault reads again at each look. */
const MANY_BLOCKS = 130;
const TEA: OrderTerms = { to: '0x00000000000000000000000000000000000a11ce', token: USDC, amount: 1_250_000n };

let chain: Chain;
let account: SmartAccount;
let t: TestVault;
const seen = new Map<OutcomeName, Recorded>();

beforeAll(async () => {
  chain = await startChain();
  await placeUsdc(chain.rpc);
  account = await createdAccount2(chain.rpc);
  await mintUsdc(chain.rpc, account.address, 100_000_000n);
  t = await startVault({
    RPC_URL: chain.url,
    CHAIN_ID: '84532',
    ENTRY_POINT_ADDRESS: ENTRY_POINTS['0.7'],
    ACCOUNT_FACTORY_2_ADDRESS: account.factory,
    FINALITY_BLOCKS: String(FINALITY_BLOCKS),
  });
  await mine(FINALITY_BLOCKS);
  await stageTime();
  await stage(['paid', 'final'], [paymentCall(TEA)]);
  await stage(['voiding', 'voided'], []);
  await stage(['reverting', 'reverted'], [paymentCall({ ...TEA, amount: 10n ** 30n })]);
  await stageSearch();
});
afterAll(async () => {
  if (isRecording) await Bun.write(FILE, `${JSON.stringify(Object.fromEntries(seen), null, 2)}\n`);
  await t.stop();
  await chain.stop();
});

const mine = (blocks: number) => chain.rpc('anvil_mine', [Hex.fromNumber(blocks)]);

/** Asks the route, and notes its answer. */
async function note(
  name: OutcomeName,
  nonce: bigint,
  about: Recorded['about'],
  terms = TEA,
): Promise<Recorded['outcome']> {
  const asked = { account: account.address, nonce: Hex.fromNumber(nonce), since: about.since, ...terms };
  const { status, body } = await t.call('GET /pay/outcome', asked);
  expect(status).toBe(200);
  seen.set(name, { about, outcome: body });
  return body;
}

async function headOf(): Promise<number> {
  return Number(await chain.rpc('eth_blockNumber'));
}

/** Nothing is included: in time, past the end at the newest block, and at the final one. */
async function stageTime(): Promise<void> {
  const nonce = freshNonce();
  const about = { since: await headOf(), end: (await timeOf(chain.rpc)) + 10_000, userOpHash: Hex.random(32) };
  await note('open', nonce, about);
  await setTime(chain.rpc, about.end + 1);
  await note('late', nonce, about);
  await mine(FINALITY_BLOCKS);
  await note('ended', nonce, about);
}

/** An operation is included: in a block first, and final later. */
async function stage(
  names: readonly [OutcomeName, OutcomeName],
  calls: Parameters<typeof handleCalls>[3],
): Promise<void> {
  const nonce = freshNonce();
  const [since, end] = [await headOf(), (await timeOf(chain.rpc)) + 100_000];
  const { userOpHash } = await handleCalls(chain.rpc, account, nonce, calls);
  const about = { since, end, userOpHash };
  await note(names[0], nonce, about);
  await mine(FINALITY_BLOCKS);
  await note(names[1], nonce, about);
  // Its token shows no transfer of this amount.
  if (names[1] === 'final') await note('unclear', nonce, about, { ...TEA, amount: 1n });
}

/** It is included in a block that is not among those that are read. */
async function stageSearch(): Promise<void> {
  const nonce = freshNonce();
  const end = (await timeOf(chain.rpc)) + 100_000;
  const { userOpHash, block } = await handleCalls(chain.rpc, account, nonce, [paymentCall(TEA)]);
  await mine(MANY_BLOCKS);
  await note('searching', nonce, { since: block + 1, end, userOpHash });
}

test.each(OUTCOME_NAMES)('%s is answered as it was recorded', (name) => {
  const now = seen.get(name);
  expect(now && sayingOf(now)).toEqual(sayingOf(recordedOf(name)));
});

test('nothing else was recorded', () => {
  expect([...seen.keys()].sort()).toEqual([...OUTCOME_NAMES].sort());
});
