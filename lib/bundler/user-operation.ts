// User operations as JSON, ERC-7769 (EntryPoint v0.7 and later).
import { VaultError } from '../base/error.ts';
import { isObject } from '../base/json.ts';

/** A user operation with checked members, as 0x-hex; factory and paymaster members are complete groups. */
export interface UserOperation {
  readonly sender: string;
  readonly nonce: string;
  readonly factory?: string;
  readonly factoryData?: string;
  readonly [member: string]: string | Eip7702Authorization | undefined;
}

/** The authorization that delegates the sender to a contract (EIP-7702), as 0x-hex. */
export type Eip7702Authorization = Readonly<Record<string, string>>;

/** `signed`: complete. `draft`: sent to ask for gas or a paymaster, so it may lack gas, fees and signature. */
export type UserOperationStage = 'signed' | 'draft';

/** Reads a user operation; null members are left out. Throws 400 `invalid_params` with the fault. */
export function readUserOperation(value: unknown, stage: UserOperationStage): UserOperation {
  if (!isObject(value)) throw invalidParams('no user operation');
  const { eip7702Auth = null, ...plain } = value;
  const userOperation = readMembers(plain, MEMBERS, 'user operation');
  requireMembers(userOperation, REQUIRED[stage], 'the user operation');
  dropZeroGas(userOperation);
  checkGroups(userOperation, stage);
  const authorization = eip7702Auth === null ? {} : { eip7702Auth: readAuthorization(eip7702Auth, stage) };
  return { ...userOperation, ...authorization } as unknown as UserOperation;
}

function readAuthorization(value: unknown, stage: UserOperationStage): Eip7702Authorization {
  if (!isObject(value)) throw invalidParams('eip7702Auth must be an object');
  const authorization = readMembers(value, AUTHORIZATION_MEMBERS, 'eip7702Auth');
  requireMembers(authorization, AUTHORIZATION_REQUIRED[stage], 'eip7702Auth');
  return authorization;
}

/** The members that are not null, each of its form. */
function readMembers(value: object, forms: typeof MEMBERS, what: string): Record<string, string> {
  const members: Record<string, string> = {};
  for (const [name, member] of Object.entries(value)) {
    const form = forms.get(name);
    if (!form) throw invalidParams(`an unknown member in the ${what}`);
    if (member === null) continue;
    if (typeof member !== 'string' || !FORMS[form].test(member)) throw invalidParams(`${name} must be ${WORDS[form]}`);
    members[name] = member;
  }
  return members;
}

function requireMembers(members: object, required: readonly string[], what: string): void {
  const missing = required.filter((name) => !(name in members));
  if (missing.length > 0) throw invalidParams(`${what} lacks ${missing.join(', ')}`);
}

/** The 400 `invalid_params` with this text. */
export function invalidParams(what: string): VaultError {
  return new VaultError('invalid_params', { message: `Invalid params: ${what}`, extra: { kind: 'invalid_params' } });
}

/** A quantity of an operation or of an upstream's answer, which may hold anything; undefined for anything else. */
export function quantityOf(value: unknown): bigint | undefined {
  return typeof value === 'string' && FORMS.quantity.test(value) ? BigInt(value) : undefined;
}

const FORMS = {
  address: /^0x[0-9a-fA-F]{40}$/,
  factory: /^0x(?:[0-9a-fA-F]{40}|7702)$/,
  quantity: /^0x[0-9a-fA-F]{1,64}$/,
  bytes: /^0x(?:[0-9a-fA-F]{2})*$/,
};

const WORDS = {
  address: 'a 20-byte address',
  factory: 'a 20-byte address or 0x7702',
  quantity: 'a 0x-hex number',
  bytes: '0x-hex bytes',
};

const MEMBERS: ReadonlyMap<string, keyof typeof FORMS> = new Map([
  ['sender', 'address'],
  ['nonce', 'quantity'],
  ['factory', 'factory'],
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
  ['paymasterSignature', 'bytes'],
  ['signature', 'bytes'],
]);

const AUTHORIZATION_MEMBERS: typeof MEMBERS = new Map([
  ['chainId', 'quantity'],
  ['address', 'address'],
  ['nonce', 'quantity'],
  ['yParity', 'quantity'],
  ['r', 'quantity'],
  ['s', 'quantity'],
]);

const ALWAYS = ['sender', 'nonce', 'callData'];
const GAS = ['callGasLimit', 'verificationGasLimit', 'preVerificationGas', 'maxFeePerGas', 'maxPriorityFeePerGas'];
const REQUIRED = { draft: ALWAYS, signed: [...ALWAYS, ...GAS, 'signature'] };

const DELEGATION = ['chainId', 'address', 'nonce'];
const AUTHORIZATION_REQUIRED = { draft: DELEGATION, signed: [...DELEGATION, 'yParity', 'r', 's'] };

const PAYMASTER_GAS = ['paymasterVerificationGasLimit', 'paymasterPostOpGasLimit'];
const PAYMASTER_OTHERS = [...PAYMASTER_GAS, 'paymasterSignature'];
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

/** viem copies an estimate's zero gas limits of a paymaster into an operation without a paymaster. */
function dropZeroGas(userOperation: Record<string, string>): void {
  if ('paymaster' in userOperation) return;
  for (const name of PAYMASTER_GAS) if (/^0x0+$/.test(userOperation[name] ?? '')) delete userOperation[name];
}

/** In the factory's place, the mark of a sender that is delegated by EIP-7702; it needs no data. */
const EIP_7702_FACTORY = /^0x7702(?:0{36})?$/;

/** The paymaster of a draft may lack its gas limits, but they need a paymaster, and so does its signature. */
function checkGroups(userOperation: Readonly<Record<string, string>>, stage: UserOperationStage): void {
  const isDelegated = EIP_7702_FACTORY.test(userOperation['factory'] ?? '');
  for (const group of GROUPS[stage]) {
    if (isDelegated && group.includes('factory')) continue;
    const present = group.filter((name) => name in userOperation);
    if (present.length % group.length !== 0) throw invalidParams(`${group.join(', ')} stand together or not at all`);
  }
  const others = PAYMASTER_OTHERS.filter((name) => name in userOperation);
  if (others.length > 0 && !('paymaster' in userOperation)) {
    throw invalidParams(`${others.join(', ')} without paymaster`);
  }
}
