// What an operation does while it is validated, in the node's trace, against the rules of bundlers (ERC-7562).
import type { Hex } from 'ox';
import { isVerified, P256_PROBE } from '../../lib/chain/p256.ts';
import type { ChainRpc } from '../../scripts/dev-stack/chain.ts';
import type { Operation, SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { handleOpsData } from './operations.ts';

/** [OP-011], [OP-080]: what may differ between simulation and inclusion. */
const BANNED = new Set(
  'ORIGIN GASPRICE BLOCKHASH COINBASE TIMESTAMP NUMBER DIFFICULTY PREVRANDAO GASLIMIT BASEFEE BLOBHASH BLOBBASEFEE CREATE SELFDESTRUCT INVALID BALANCE SELFBALANCE TLOAD TSTORE'.split(
    ' ',
  ),
);
const CALLS = new Set(['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL']);
/** ecrecover of an address's key, sha256, and modexp of P-256 in Solidity. */
const PRECOMPILES = new Set(['0x1', '0x2', '0x5']);
const P256 = '0x0000000000000000000000000000000000000100';
const EXTERNAL_CODE = new Set(['EXTCODESIZE', 'EXTCODECOPY', 'EXTCODEHASH']);
/** keccak256("BeforeExecution()"): the EntryPoint has validated all operations. */
const BEFORE_EXECUTION = '0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972';

/** What follows an operation. */
interface Next {
  readonly op: string;
  readonly depth: number;
}

interface Step extends Next {
  /** The top of it. */
  readonly stack: readonly Hex.Hex[];
  readonly next?: Next;
}

/**
 * Notes each operation but those that reckon, jump, push or use memory: 65,000 of them are P-256 in Solidity, whose
 * whole trace is 190 MB. The node runs it.
 */
const TRACER = `{
  steps: [], last: undefined,
  step: function (log) {
    var op = log.op.toNumber();
    if (this.last) this.last.next = { op: log.op.toString(), depth: log.getDepth() };
    this.last = undefined;
    if (op < 0x30 || (op >= 0x50 && op <= 0x53) || (op >= 0x56 && op <= 0x59) || (op >= 0x5e && op <= 0x9f) || op == 0x5b)
      return;
    var stack = [];
    for (var i = 0; i < 5 && i < log.stack.length(); i++) stack.push('0x' + log.stack.peek(i).toString(16));
    this.last = { op: log.op.toString(), depth: log.getDepth(), stack: stack };
    this.steps.push(this.last);
  },
  fault: function () {},
  result: function (context) { return { steps: this.steps, error: context.error }; },
}`;

/** A contract that runs: the address whose storage it uses. */
type Frame = string;

/** What the account and its factory did before the execution: the rules they broke, and the slots they used. */
export async function traceOf(rpc: ChainRpc, account: SmartAccount, operation: Operation) {
  const from = devAccount('bob').address;
  const call = { from, to: account.entryPoint, data: handleOpsData(operation), gas: '0x1c9c380' };
  const { steps, error } = (await rpc('debug_traceCall', [call, 'latest', { tracer: TRACER }])) as {
    steps: readonly Step[];
    error?: string;
  };
  if (error) throw new Error('the operation is refused');
  const entryPoint = lower(account.entryPoint);
  const [broken, storage] = [[] as string[], new Set<string>()];
  const touched = new Map<string, string>();
  const frames: Frame[] = [entryPoint];
  for (const step of steps) {
    if (step.op.startsWith('LOG') && top(step, 2) === BEFORE_EXECUTION) {
      for (const [target, op] of touched)
        if (!(await hasCode(rpc, target))) broken.push(`${op} of ${target} without code`);
      return { broken, storage };
    }
    frames.length = step.depth;
    const { next } = step;
    const self = frames.at(-1) ?? '';
    if (CALLS.has(step.op) && next && next.depth > step.depth) {
      frames.push(step.op === 'DELEGATECALL' ? self : addressOf(top(step, 1)));
    }
    if (self === entryPoint) continue;
    if (isBanned(step)) broken.push(step.op);
    if (CALLS.has(step.op) && !mayCall(step, entryPoint)) broken.push(`${step.op} of ${top(step, 1)}`);
    const target = targetOf(step);
    // [OP-042]: the account itself, before it exists.
    if (target !== undefined && target !== lower(account.address)) touched.set(target, step.op);
    if (step.op === 'SLOAD' || step.op === 'SSTORE') {
      storage.add(top(step, 0));
      if (self !== lower(account.address) || step.op === 'SSTORE') broken.push(`${step.op} in ${self}`);
    }
  }
  throw new Error('the execution was never reached');
}

function isBanned({ op, next }: Step): boolean {
  return BANNED.has(op) || (op === 'GAS' && !(next && CALLS.has(next.op)));
}

/** Precompiles, code (which the trace goes into), and the EntryPoint for the deposit alone. */
function mayCall(step: Step, entryPoint: string): boolean {
  const to = top(step, 1);
  if (PRECOMPILES.has(to)) return true;
  if (addressOf(to) !== entryPoint) return step.op !== 'CALL' || BigInt(top(step, 2)) === 0n;
  return step.op === 'CALL' && BigInt(top(step, 4)) === 0n;
}

/** Whose code a step reads or runs, unless it is a precompile of every chain. */
function targetOf(step: Step): string | undefined {
  const word = CALLS.has(step.op) ? top(step, 1) : EXTERNAL_CODE.has(step.op) ? top(step, 0) : undefined;
  return word === undefined || PRECOMPILES.has(word) ? undefined : addressOf(word);
}

/** [OP-041]: an address without code is not to be touched. P-256's precompile (RIP-7212, EIP-7951) answers instead. */
async function hasCode(rpc: ChainRpc, target: string): Promise<boolean> {
  if (target === P256) return isVerified(await rpc('eth_call', [P256_PROBE, 'latest']));
  return (await rpc('eth_getCode', [target, 'latest'])) !== '0x';
}

function top({ stack }: Step, depth: number): Hex.Hex {
  return stack[depth] ?? '0x0';
}

function addressOf(word: Hex.Hex): string {
  return `0x${word.slice(2).padStart(40, '0').slice(-40)}`;
}

function lower(address: string): string {
  return address.toLowerCase();
}
