// A user operation, with the parts of an account's EntryPoint and key that it needs.
import { AbiParameters, type Address, Base64, Hex, Signature } from 'ox';
import * as UserOperation from 'ox/erc4337/UserOperation';
import type { AccountKind } from '../../lib/chain/account.ts';
import type { Assertion } from '../../lib/identity/passkey.ts';
import { ENTRY_POINTS } from './entrypoints.ts';
import type { Passkey } from './passkey.ts';

/** A user operation, signed if only in form. */
export type Operation = UserOperation.UserOperation<'0.7', true>;

/** The account of a passkey, whether it exists yet or not. */
export interface SmartAccount {
  readonly address: Address.Address;
  readonly passkey: Passkey;
  readonly factory: Address.Address;
  readonly entryPoint: Address.Address;
  /** The call of the factory that creates it. */
  readonly factoryData: Hex.Hex;
  /** 1 if absent. Signatures of the second kind end by themselves. */
  readonly kind?: AccountKind;
}

/** One call that an account makes; value in wei. */
export interface AccountCall {
  readonly target: Address.Address;
  readonly value?: bigint;
  readonly data?: Hex.Hex;
}

/** The hash that the passkey signs, as the account's EntryPoint computes it. */
export function operationHash({ entryPoint }: SmartAccount, operation: Operation, chainId: number): Hex.Hex {
  const entryPointVersion = entryPoint === ENTRY_POINTS['0.7'] ? '0.7' : '0.8';
  // 0.9 computes as 0.8 does.
  return UserOperation.hash(operation, { chainId, entryPointAddress: entryPoint, entryPointVersion });
}

/**
 * An assertion as the account takes it: the ABI encoding of OpenZeppelin's `WebAuthnAuth` without its first word, s in
 * the lower half.
 */
export function encodeAssertion(assertion: Assertion): Hex.Hex {
  const { r, s } = Signature.fromDerBytes(Base64.toBytes(assertion.signature));
  const low = BigInt(s) > P256_ORDER / 2n ? P256_ORDER - BigInt(s) : BigInt(s);
  const clientDataJSON = Base64.toString(assertion.clientDataJSON);
  const encoded = AbiParameters.encode(WEBAUTHN_AUTH, [
    {
      r: Hex.fromNumber(BigInt(r), { size: 32 }),
      s: Hex.fromNumber(low, { size: 32 }),
      challengeIndex: BigInt(clientDataJSON.indexOf('"challenge"')),
      typeIndex: BigInt(clientDataJSON.indexOf('"type"')),
      authenticatorData: Hex.fromBytes(Base64.toBytes(assertion.authenticatorData)),
      clientDataJSON,
    },
  ]);
  return Hex.slice(encoded, 32);
}

const WEBAUTHN_AUTH = AbiParameters.from([
  'struct WebAuthnAuth { bytes32 r; bytes32 s; uint256 challengeIndex; uint256 typeIndex; bytes authenticatorData; string clientDataJSON; }',
  'WebAuthnAuth auth',
]);
/** The order of P-256 (SEC 2 section 2.4.2). */
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
