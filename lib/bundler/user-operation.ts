// User operations as JSON, ERC-7769 (EntryPoint v0.7 and later).
import { VaultError } from '../base/error.ts';

/** A user operation with checked members, as 0x-hex; factory and paymaster members are complete groups. */
export interface UserOperation {
  readonly sender: string;
  readonly nonce: string;
  readonly factory?: string;
  readonly factoryData?: string;
  readonly [member: string]: string | undefined;
}

/** `signed`: complete. `draft`: sent to ask for gas or a paymaster, so it may lack gas, fees and signature. */
export type UserOperationStage = 'signed' | 'draft';

/** Reads a user operation; null members are left out. Throws 400 `invalid_params` with what is wrong. */
export function readUserOperation(value: unknown, stage: UserOperationStage): UserOperation {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidParams('no user operation');
  const userOperation: Record<string, string> = {};
  for (const [name, member] of Object.entries(value)) {
    const form = MEMBERS.get(name);
    if (!form) throw invalidParams('an unknown member in the user operation');
    if (member === null) continue;
    if (typeof member !== 'string' || !FORMS[form].test(member)) throw invalidParams(`${name} must be ${WORDS[form]}`);
    userOperation[name] = member;
  }
  const missing = REQUIRED[stage].filter((name) => !(name in userOperation));
  if (missing.length > 0) throw invalidParams(`the user operation lacks ${missing.join(', ')}`);
  checkGroups(userOperation, stage);
  return userOperation as unknown as UserOperation;
}

/** The 400 `invalid_params` with this text. */
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
const GROUPS: Readonly<Record<UserOperationStage, readonly (readonly string[])[]>> = {
  draft: [
    ['factory', 'factoryData'],
    ['paymaster', 'paymasterData'],
  ],
  signed: [
    ['factory', 'factoryData'],
    ['paymaster', ...PAYMASTER_GAS, 'paymasterData'],
  ],
};

/** The paymaster of a draft may lack its gas limits, but they need a paymaster. */
function checkGroups(userOperation: Readonly<Record<string, string>>, stage: UserOperationStage): void {
  for (const group of GROUPS[stage]) {
    const present = group.filter((name) => name in userOperation);
    if (present.length % group.length !== 0) throw invalidParams(`${group.join(', ')} stand together or not at all`);
  }
  const gas = PAYMASTER_GAS.filter((name) => name in userOperation);
  if (gas.length > 0 && !('paymaster' in userOperation)) throw invalidParams(`${gas.join(', ')} without paymaster`);
}
