// Reads the call data of an account's operation: `contracts/Account.sol`, `contracts/Account2.sol`, ERC-7821.
import { argumentsIn, callsIn, EXECUTE, EXECUTE_BATCH } from '../../client/call-data.ts';
import { addressIn } from '../chain/contract-call.ts';

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
    case EXECUTE_BATCH:
      return addressed(callsIn(data));
    case EXECUTE_MODE: {
      const args = argumentsIn(data);
      const batch = args.bytes(1);
      if ((args.word(0) ?? 0n) >> 176n !== SINGLE_BATCH || batch === undefined) return undefined;
      // No address means the account itself.
      return addressed(callsIn(`${EXECUTE_BATCH}${batch.slice(2)}`))?.map((call) =>
        call.to === NOBODY ? { ...call, to: account } : call,
      );
    }
    default:
      return [{ to: account, value: 0n, data }];
  }
}

function addressed(calls: ReturnType<typeof callsIn>): readonly AccountCall[] | undefined {
  const read = calls?.map(({ target, value, data }) => ({ to: addressIn(target), value, data }));
  return read?.every((call): call is AccountCall => call.to !== undefined) ? read : undefined;
}

/** Selector of ERC-7821's `execute(bytes32,bytes)`. */
const EXECUTE_MODE = '0xe9ae5c53';
/** The first ten bytes of the one mode that accounts of the second kind take. */
const SINGLE_BATCH = 0x01_00_0000_0000_0000_0000n;
const NOBODY = `0x${'0'.repeat(40)}`;
