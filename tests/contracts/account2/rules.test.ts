// What a second account does while it validates, in the node's trace, against the rules of bundlers (ERC-7562).
import { afterAll, describe, expect, test } from 'bun:test';
import { Hex, Secp256k1 } from 'ox';
import { addressSigner, passkeySigner, signUntil } from '../../../scripts/dev-stack/account2.ts';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import type { Operation, SmartAccount } from '../../../scripts/dev-stack/user-operation.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { createdAccount2, fundedAccount2, own, run, VERSIONS } from '../../support/account2.ts';
import { draftOf, handleOpsData } from '../../support/operations.ts';

/** [OP-011], [OP-080]: what may differ between simulation and inclusion. */
const BANNED = new Set(
  'ORIGIN GASPRICE BLOCKHASH COINBASE TIMESTAMP NUMBER DIFFICULTY PREVRANDAO GASLIMIT BASEFEE BLOBHASH BLOBBASEFEE CREATE SELFDESTRUCT INVALID BALANCE SELFBALANCE TLOAD TSTORE'.split(
    ' ',
  ),
);
const CALLS = new Set(['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL']);
/** sha256 and P-256 (RIP-7212); ecrecover of an address's key. */
const PRECOMPILES = new Set(['0x1', '0x2', '0x100']);
/** keccak256("BeforeExecution()"): the EntryPoint has validated all operations. */
const BEFORE_EXECUTION = '0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972';

const { rpc, stop } = await startChain();
afterAll(stop);

describe.each(VERSIONS)('validation by EntryPoint %s', (version) => {
  test('of a creation and of operations by each kind of key keeps to ERC-7562', async () => {
    const fresh = await fundedAccount2(rpc, version);
    expect(await traceOf(fresh, await signed(fresh, passkeySigner(fresh.passkey)))).toMatchObject({ broken: [] });
    const account = await createdAccount2(rpc, version);
    const phone = passkeySigner(createPasskey(), 1);
    const exit = addressSigner(Secp256k1.randomPrivateKey(), 2);
    for (const { x, y } of [phone, exit]) {
      await run(rpc, account, [own(account, 'addKey', x, y, Hex.padRight('0x01', 32))]);
    }
    for (const signer of [passkeySigner(account.passkey), phone, exit]) {
      const { broken, storage } = await traceOf(account, await signed(account, signer));
      expect(broken).toEqual([]);
      // The proxy's slot, the bits of live keys, and of a stored key x and y.
      expect(storage.size).toBe(signer.index === 0 ? 2 : 4);
    }
  });
});

async function signed(account: SmartAccount, signer: Parameters<typeof signUntil>[3]): Promise<Operation> {
  return signUntil(rpc, account, await draftOf(rpc, account, []), signer);
}

interface Step {
  readonly op: string;
  readonly depth: number;
  readonly stack: readonly Hex.Hex[];
}

/** A contract that runs: the address whose storage it uses. */
type Frame = string;

/** What the account and its factory did before the execution: the rules they broke, and the slots they used. */
async function traceOf(account: SmartAccount, operation: Operation) {
  const from = devAccount('bob').address;
  const call = { from, to: account.entryPoint, data: handleOpsData(operation), gas: '0x1c9c380' };
  const { structLogs, failed } = (await rpc('debug_traceCall', [call, 'latest', {}])) as {
    structLogs: readonly Step[];
    failed: boolean;
  };
  expect(failed).toBe(false);
  const entryPoint = lower(account.entryPoint);
  const [broken, storage] = [[] as string[], new Set<string>()];
  const frames: Frame[] = [entryPoint];
  for (const [i, step] of structLogs.entries()) {
    if (step.op.startsWith('LOG') && top(step, 2) === BEFORE_EXECUTION) return { broken, storage };
    frames.length = step.depth;
    const next = structLogs[i + 1];
    const self = frames.at(-1) ?? '';
    if (CALLS.has(step.op) && next && next.depth > step.depth) {
      frames.push(step.op === 'DELEGATECALL' ? self : addressOf(top(step, 1)));
    }
    if (self === entryPoint) continue;
    if (isBanned(step, next)) broken.push(`${step.op} at depth ${step.depth}`);
    if (CALLS.has(step.op) && !mayCall(step, entryPoint)) broken.push(`${step.op} of ${top(step, 1)}`);
    if (step.op === 'SLOAD' || step.op === 'SSTORE') {
      storage.add(top(step, 0));
      if (self !== lower(account.address) || step.op === 'SSTORE') broken.push(`${step.op} in ${self}`);
    }
  }
  throw new Error('the execution was never reached');
}

function isBanned(step: Step, next: Step | undefined): boolean {
  return BANNED.has(step.op) || (step.op === 'GAS' && !(next && CALLS.has(next.op)));
}

/** Precompiles, code (which the trace goes into), and the EntryPoint for the deposit alone. */
function mayCall(step: Step, entryPoint: string): boolean {
  const to = top(step, 1);
  if (PRECOMPILES.has(to)) return true;
  if (addressOf(to) !== entryPoint) return step.op !== 'CALL' || BigInt(top(step, 2)) === 0n;
  return step.op === 'CALL' && BigInt(top(step, 4)) === 0n;
}

function top({ stack }: Step, depth: number): Hex.Hex {
  return stack[stack.length - 1 - depth] ?? '0x0';
}

function addressOf(word: Hex.Hex): string {
  return `0x${word.slice(2).padStart(40, '0').slice(-40)}`;
}

function lower(address: string): string {
  return address.toLowerCase();
}
