// The person's choice of addresses before an app gets a code: which one, or none.
import { registrationPending } from '../authorization-codes/authorize.ts';
import type { ProvableChannel } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import { type OwnAddress, readAddresses } from '../registration/addresses.ts';
import type { SignIn } from '../registration/sign-in.ts';
import type { ValidRequest } from './judge.ts';

/** By channel: the address that the app gets, null for none. A missing channel means the oldest address. */
export type Picked = Readonly<Partial<Record<ProvableChannel, string | null>>>;

/** The addresses of a person of each channel that the app asks for. */
export interface AddressChoice {
  readonly channels: readonly ProvableChannel[];
  readonly addresses: readonly Pick<OwnAddress, 'identifier' | 'channel' | 'movesAt'>[];
}

const CHANNEL_OF = { email: 'email', phone: 'sms' } as const;

/**
 * The addresses that the person has to choose from; undefined where nothing is open. Nothing is open with one address
 * of a channel, or with none of a channel that this vault cannot prove. Throws 409 `registration_pending` for one that
 * is picked and not confirmed.
 */
export async function findChoice(
  ctx: Pick<Platform, 'config' | 'db'>,
  { scopes }: Pick<ValidRequest, 'scopes'>,
  signIn: SignIn,
  picked: Picked | undefined,
): Promise<AddressChoice | undefined> {
  const channels = scopes.flatMap((scope) => (scope === 'email' || scope === 'phone' ? [CHANNEL_OF[scope]] : []));
  if (channels.length === 0) return undefined;
  const all = await readAddresses(ctx, signIn);
  const open = channels.map((channel) => {
    const own = all.filter((one) => one.channel === channel);
    return picked ? isOpenAfter(own, picked[channel]) : isOpen(own, isOffered(ctx, channel));
  });
  if (!open.includes(true)) return undefined;
  const shown = all.filter(({ channel, state }) => channels.includes(channel) && state !== 'pending');
  return { channels, addresses: shown.map(({ identifier, channel, movesAt }) => ({ identifier, channel, movesAt })) };
}

function isOpen(own: readonly OwnAddress[], isOffered: boolean): boolean {
  return own.length === 0 ? isOffered : own.length > 1 || own[0]?.state !== 'held';
}

/** A picked address may have been lost meanwhile, or wait for its move. */
function isOpenAfter(own: readonly OwnAddress[], picked: string | null | undefined): boolean {
  if (picked === undefined || picked === null) return false;
  const found = own.find(({ identifier }) => identifier === picked);
  if (found?.state === 'pending') throw registrationPending();
  return found?.state !== 'held';
}

function isOffered({ config }: Pick<Platform, 'config'>, channel: ProvableChannel): boolean {
  return (channel === 'email' ? config.emailProvider : config.smsProvider) !== 'none';
}
