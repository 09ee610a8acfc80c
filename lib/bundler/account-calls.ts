// What the call data of an account's operation does: `contracts/Account.sol`, `contracts/Account2.sol`, ERC-7821.
import { argumentsIn, type Tuple } from '../../client/call-data.ts';

/** One call that an account makes; hex is lower-case. */
export interface AccountCall {
  readonly to: string;
  readonly value: bigint;
  readonly data: string;
}

/**
 * The calls of an operation, in order: those of `execute` and `executeBatch`, and any other function as a call of the
 * account itself. Undefined where the call data cannot be read.
 */
export function readAccountCalls(sender: string, callData: string): readonly AccountCall[] | undefined {
  const account = sender.toLowerCase();
  const data = callData.toLowerCase();
  if (data === '0x') return [];
  switch (data.slice(0, 10)) {
    case EXECUTE:
      return all([readCall(argumentsIn(data))]);
    case EXECUTE_BATCH:
      return readBatch(argumentsIn(data));
    case EXECUTE_MODE: {
      const args = argumentsIn(data);
      const batch = args.bytes(1);
      if ((args.word(0) ?? 0n) >> 176n !== SINGLE_BATCH || batch === undefined) return undefined;
      // No address stands for the account itself.
      return readBatch(argumentsIn(`${EXECUTE_BATCH}${batch.slice(2)}`))?.map((call) =>
        call.to === NOBODY ? { ...call, to: account } : call,
      );
    }
    default:
      return [{ to: account, value: 0n, data }];
  }
}

function readBatch(args: Tuple): readonly AccountCall[] | undefined {
  return all(args.tuples(0)?.map((tuple) => tuple && readCall(tuple)));
}

function readCall(tuple: Tuple): AccountCall | undefined {
  const [to, value, data] = [tuple.word(0), tuple.word(1), tuple.bytes(2)];
  if (to === undefined || to >> 160n !== 0n || value === undefined || data === undefined) return undefined;
  return { to: `0x${to.toString(16).padStart(40, '0')}`, value, data };
}

function all<T>(items: readonly (T | undefined)[] | undefined): readonly T[] | undefined {
  return items?.every((item) => item !== undefined) ? items : undefined;
}

/** Selectors of `execute(address,uint256,bytes)`, of its batch, and of `execute(bytes32,bytes)`. */
const EXECUTE = '0xb61d27f6';
const EXECUTE_BATCH = '0x34fcd5be';
const EXECUTE_MODE = '0xe9ae5c53';
/** The first ten bytes of the one mode that accounts of the second kind take. */
const SINGLE_BATCH = 0x01_00_0000_0000_0000_0000n;
const NOBODY = `0x${'0'.repeat(40)}`;
