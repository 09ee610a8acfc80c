import { VaultError } from '../base/error.ts';
import type { CheckResult, DeliveryContext, DeliveryProvider, NoSms } from './provider.ts';

/** Sends no mail: for a vault that proves phone numbers, or no identifiers at all. */
export const noEmail = {
  name: 'none',
  needs: [],
  remedy: '',
  create: (_: DeliveryContext<unknown>) => () => Promise.reject(new VaultError('email_not_configured')),
  check: async (): Promise<readonly CheckResult[]> => [{ state: 'ok', text: 'off: no mail is sent' }],
} as const satisfies DeliveryProvider;

/** Sends no text messages: for a vault that proves addresses of mail only. */
export const noSms = {
  name: 'none',
  needs: [],
  remedy: '',
  create: (_: DeliveryContext<unknown>): NoSms => ({ kind: 'none' }),
  check: async (): Promise<readonly CheckResult[]> => [{ state: 'ok', text: 'off: no SMS are sent' }],
} as const satisfies DeliveryProvider;
