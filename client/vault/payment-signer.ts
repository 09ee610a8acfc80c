// A signer of payments for libraries that take one: each signature is a question of the vault's page.
import type { ApprovalAnswer } from '../approval-question.ts';
import { checksum } from '../checksum.ts';
import { keccak256 } from '../keccak.ts';
import { DOMAIN_TYPE } from '../messages.ts';
import { isAddress } from '../order-members.ts';
import { AUTHORIZATION_TYPE, type TransferAnswer } from '../transfer-authorization.ts';
import { usdcDomainOf } from '../usdc.ts';
import type { Hex } from '../wallet/bytes.ts';
import type { ApproveOptions, Asked } from './approve.ts';
import { fault } from './error.ts';
import type { VaultInfo } from './vault-info.ts';

/** Typed data (EIP-712) as viem writes it. */
export interface TypedData {
  readonly domain: Readonly<Record<string, unknown>>;
  readonly types: Readonly<Record<string, unknown>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, unknown>>;
}

/** A signer as `@x402/evm` takes one. It signs authorizations of USDC on the vault's chain, and nothing else. */
export interface PaymentSigner {
  readonly address: Hex;
  /** Rejects with the page's word, and with `not_offered` for anything else, before a window opens. */
  readonly signTypedData: (typed: TypedData) => Promise<Hex>;
}

/** Has the page show a request; answers what the person signed. */
export type AskPage = (
  url: string,
  asked: Promise<Asked>,
  options: { readonly via: 'popup' },
) => Promise<TransferAnswer | ApprovalAnswer>;

/** The signer of the person's account. Throws a `TypeError` where nobody is known. */
export async function signer(
  url: string,
  info: VaultInfo,
  { person }: Pick<ApproveOptions, 'person'>,
  ask: AskPage,
): Promise<PaymentSigner> {
  if (!isAddress(person?.account))
    throw new TypeError('signer: no account is known; sign in first, or give person: { account, credentialId }');
  const account = checksum(person.account.slice(2).toLowerCase(), keccak256);
  const { form, chainId, address, name, version } = await readUsdc(info);
  return {
    address: account,
    async signTypedData({ domain, types, primaryType, message }) {
      const isFit =
        primaryType === NAME &&
        hasTypes(types) &&
        isDomain(domain, { name, version, chainId, verifyingContract: address }) &&
        isSame(message?.['from'], account);
      if (!isFit)
        throw fault('not_offered', { hint: `Only ${NAME} of USDC on chain ${chainId} from ${account} is signed.` });
      const authorization = Object.fromEntries(MEMBERS.map((member) => [member.name, String(message[member.name])]));
      const shown = { id: authorization['nonce'], form, token: { chainId, address }, authorization, person };
      return (await ask(url, Promise.resolve({ shown }), { via: 'popup' })).signature as Hex;
    },
  };
}

/** USDC of the vault's chain, and the form in which the page is asked for it. Throws `not_offered`. */
export async function readUsdc(info: VaultInfo) {
  const { chainId } = (await info()).status;
  const usdc = usdcDomainOf(chainId);
  if (!usdc) throw fault('not_offered', { hint: `No USDC is known on chain ${chainId}.` });
  return { form: 'transfer-authorization', chainId, ...usdc };
}

const NAME = 'TransferWithAuthorization';
const MEMBERS = membersOf(AUTHORIZATION_TYPE);
const DOMAIN_MEMBERS = membersOf(DOMAIN_TYPE);

/** The members of a type, as viem writes them. */
function membersOf(type: string) {
  return type
    .slice(type.indexOf('(') + 1, -1)
    .split(',')
    .map((member) => {
      const [of = '', name = ''] = member.split(' ');
      return { name, type: of };
    });
}

/** Whether these are the types that are signed and no others. Some libraries name that of the domain too. */
function hasTypes(types: TypedData['types'] | undefined): boolean {
  const { [NAME]: members, EIP712Domain = DOMAIN_MEMBERS, ...others } = types ?? {};
  const isFit = JSON.stringify([members, EIP712Domain]) === JSON.stringify([MEMBERS, DOMAIN_MEMBERS]);
  return isFit && Object.keys(others).length === 0;
}

/** Whether a domain has exactly these members. */
function isDomain(domain: object | undefined, wanted: Readonly<Record<string, string | number>>): boolean {
  const given = Object.entries(domain ?? {});
  const isRight = ([name, value]: readonly [string, unknown]) =>
    Object.hasOwn(wanted, name) && isSame(value, wanted[name]);
  return given.length === Object.keys(wanted).length && given.every(isRight);
}

/** Whether it is this value, whatever the case of an address and the type of a number. A text has one spelling. */
function isSame(value: unknown, wanted: string | number | undefined): boolean {
  if (isAddress(value)) return value.toLowerCase() === String(wanted).toLowerCase();
  return typeof value !== 'object' && String(value) === String(wanted);
}
