// Transfers of USDC by authorization (EIP-3009), signed by passkeys' accounts, and the transactions that make them.
import { AbiFunction, type Address, Hex, TypedData } from 'ox';
import { messages } from '../../client/approval-terms.ts';
import type { TypedMessage } from '../../client/messages.ts';
import { authorizationNonce } from '../../client/payment-nonce.ts';
import type { PaymentOrder } from '../../client/payments.ts';
import { USDC_DOMAINS } from '../../client/usdc.ts';
import type { ChainRpc } from '../../scripts/dev-stack/chain.ts';
import { isDeployed } from '../../scripts/dev-stack/create2.ts';
import { encodeAssertion, type SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { type Call, devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';

const CHAIN_ID = 84532;

/** The members that are signed; times in seconds since 1970. */
export interface Authorization {
  readonly from: Address.Address;
  readonly to: Address.Address;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex.Hex;
}

/** A domain other than that of the world's USDC, or a part of it. */
export interface AuthorizationDomain {
  readonly name?: string;
  readonly version?: string;
  readonly chainId?: number;
  readonly verifyingContract?: Address.Address;
}

/** The type of an authorization, for EIP-712. */
export const AUTHORIZATION_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** The authorization by which an account pays an order; it has no end that comes. */
export async function authorizationOf(
  from: Address.Address,
  order: PaymentOrder,
  more: Partial<Authorization> = {},
): Promise<Authorization> {
  const [to, nonce] = [order.to as Address.Address, await authorizationNonce(order)];
  return { from, to, value: BigInt(order.amount), validAfter: 0n, validBefore: 2n ** 40n, nonce, ...more };
}

/** What an address signs of it, and an account's `isValidSignature` is asked for. */
export function authorizationDigest(authorization: Authorization, domain: AuthorizationDomain = {}): Hex.Hex {
  return TypedData.getSignPayload(typedOf(authorization, domain));
}

/** The account's own signature of it, as it takes it once it exists. */
export function signAuthorization(
  { passkey, kind = 1, address }: SmartAccount,
  authorization: Authorization,
  domain: AuthorizationDomain = {},
): Hex.Hex {
  const given = typedOf(authorization, domain);
  const typed: TypedMessage = {
    domainSeparator: Hex.toBytes(TypedData.domainSeparator(given.domain)),
    contents: Hex.toBytes(TypedData.hashStruct({ ...given, data: { ...authorization } })),
    type: TypedData.encodeType(given),
  };
  const chainId = given.domain.chainId;
  const assertion = encodeAssertion(passkey.assert(messages.typedDataDigest({ kind, address, chainId }, typed)));
  return Hex.fromBytes(messages.accountSignature({ kind }, Hex.toBytes(assertion), { typed }));
}

/** The call of the token that carries it out. */
export function authorizationCall(
  { from, to, value, validAfter, validBefore, nonce }: Authorization,
  signature: Hex.Hex,
  token: Address.Address = USDC_DOMAINS[CHAIN_ID].address,
): Required<Pick<Call, 'to' | 'data'>> {
  const args = [from, to, value, validAfter, validBefore, nonce, signature] as const;
  return { to: token, data: AbiFunction.encodeData(TRANSFER, args) };
}

/** Has anybody send it, as a facilitator does: the account is created first. The transaction's hash. */
export async function settleAuthorization(
  rpc: ChainRpc,
  account: SmartAccount,
  authorization: Authorization,
  signature = signAuthorization(account, authorization),
): Promise<Hex.Hex> {
  const { privateKey } = devAccount('bob');
  const { address, factory: to, factoryData: data } = account;
  if (!(await isDeployed(rpc, address))) await sendTransaction(rpc, privateKey, { to, data });
  return (await sendTransaction(rpc, privateKey, authorizationCall(authorization, signature))).transactionHash;
}

function typedOf(message: Authorization, domain: AuthorizationDomain) {
  const { address: verifyingContract, name, version } = USDC_DOMAINS[CHAIN_ID];
  return {
    domain: { name, version, chainId: CHAIN_ID, verifyingContract, ...domain },
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message,
  } as const;
}

const TRANSFER = AbiFunction.from(
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
);
