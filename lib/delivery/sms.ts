import type { NoSms, OwnSms, VerifySms } from './provider.ts';
import { SMS_PROVIDERS, type SmsContext } from './providers.ts';

/** The kinds of provider. Either the vault or the provider keeps the code, so checks match the kinds exhaustively. */
export type SmsProvider = OwnSms | VerifySms | NoSms;

/** The provider of `SMS_PROVIDER`. Throws when a setting it needs is missing. */
export function createSmsProvider(
  outside: SmsContext & { readonly config: { readonly smsProvider: string } },
): SmsProvider {
  const provider = SMS_PROVIDERS.find(({ name }) => name === outside.config.smsProvider);
  if (!provider) throw new Error('SMS_PROVIDER names no provider');
  return provider.create(outside);
}
