/** User operations as JSON, ERC-7769 (EntryPoint v0.7 and later). */
import { VaultError } from '../base/error.ts';

/** A user operation whose members have the right form, and stand in whole groups. */
export interface UserOperation {
  readonly sender: string;
  readonly nonce: string;
  readonly factory?: string;
  readonly factoryData?: string;
  readonly [member: string]: string | undefined;
}

/** `signed` is ready to be sent; a `draft`, of which gas or paymaster are still asked for, may lack gas, fees and signature. */
export type Stage = 'signed' | 'draft';

/** The members of a user operation; a null one is left out. Throws 400 `invalid_params` saying what is wrong with it. */
export function readUserOperation(value: unknown, stage: Stage): UserOperation {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidParams('no user operation');
  const operation: Record<string, string> = {};
  for (const [name, member] of Object.entries(value)) {
    const form = MEMBERS.get(name);
    if (!form) throw invalidParams('an unknown member in the user operation');
    if (member === null) continue;
    if (typeof member !== 'string' || !FORMS[form].test(member)) throw invalidParams(`${name} must be ${WORDS[form]}`);
    operation[name] = member;
  }
  const missing = REQUIRED[stage].filter((name) => !(name in operation));
  if (missing.length > 0) throw invalidParams(`the user operation lacks ${missing.join(', ')}`);
  checkGroups(operation, stage);
  return operation as unknown as UserOperation;
}

/** A 400 of parameters that are not forwarded. */
export function invalidParams(what: string): VaultError {
  return new VaultError('invalid_params', { message: `Invalid params: ${what}`, extra: { kind: 'invalid_params' } });
}

const FORMS = {
  address: /^0x[0-9a-fA-F]{40}$/,
  quantity: /^0x[0-9a-fA-F]{1,64}$/,
  bytes: /^0x(?:[0-9a-fA-F]{2})*$/,
};

const WORDS = { address: 'a 20-byte address', quantity: 'a 0x-hex number', bytes: '0x-hex bytes' };

const MEMBERS: ReadonlyMap<string, keyof typeof FORMS> = new Map([
  ['sender', 'address'],
  ['nonce', 'quantity'],
  ['factory', 'address'],
  ['factoryData', 'bytes'],
  ['callData', 'bytes'],
  ['callGasLimit', 'quantity'],
  ['verificationGasLimit', 'quantity'],
  ['preVerificationGas', 'quantity'],
  ['maxFeePerGas', 'quantity'],
  ['maxPriorityFeePerGas', 'quantity'],
  ['paymaster', 'address'],
  ['paymasterVerificationGasLimit', 'quantity'],
  ['paymasterPostOpGasLimit', 'quantity'],
  ['paymasterData', 'bytes'],
  ['signature', 'bytes'],
]);

const ALWAYS = ['sender', 'nonce', 'callData'];
const GAS = ['callGasLimit', 'verificationGasLimit', 'preVerificationGas', 'maxFeePerGas', 'maxPriorityFeePerGas'];
const REQUIRED = { draft: ALWAYS, signed: [...ALWAYS, ...GAS, 'signature'] };

const PAYMASTER_GAS = ['paymasterVerificationGasLimit', 'paymasterPostOpGasLimit'];
const GROUPS: Readonly<Record<Stage, readonly (readonly string[])[]>> = {
  draft: [
    ['factory', 'factoryData'],
    ['paymaster', 'paymasterData'],
  ],
  signed: [
    ['factory', 'factoryData'],
    ['paymaster', ...PAYMASTER_GAS, 'paymasterData'],
  ],
};

/** A draft's paymaster may lack its gas limits, which are what is asked for; they never stand alone. */
function checkGroups(operation: Readonly<Record<string, string>>, stage: Stage): void {
  for (const group of GROUPS[stage]) {
    const present = group.filter((name) => name in operation);
    if (present.length % group.length !== 0) throw invalidParams(`${group.join(', ')} stand together or not at all`);
  }
  const gas = PAYMASTER_GAS.filter((name) => name in operation);
  if (gas.length > 0 && !('paymaster' in operation)) throw invalidParams(`${gas.join(', ')} without paymaster`);
}
