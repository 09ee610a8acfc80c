/**
 * SMS codes kept by Twilio Verify v2: https://www.twilio.com/docs/verify/api, error codes:
 * https://www.twilio.com/docs/api/errors.
 */

import { utf8 } from '../base/bytes.ts';
import type { Clock } from '../base/clock.ts';
import { badRequest, VaultError } from '../base/error.ts';
import { callUpstream, type Fetch, measureUpstream, UpstreamError } from '../base/http-client.ts';
import { isObject, parseJson } from '../base/json.ts';
import { findLanguage } from '../base/language.ts';
import type { Metrics } from '../base/metrics.ts';
import { PURPOSES, type Purpose } from '../base/purpose.ts';
import { MESSAGE_ANSWER_BYTES_MAX, SMS_CODE_EXPIRY_SECONDS, UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import { measureDelivery } from './measure.ts';
import type {
  CheckContext,
  CheckResult,
  DeliveryContext,
  DeliveryProvider,
  ProviderVerdict,
  VerifySms,
} from './provider.ts';

/** The settings of Twilio. */
export interface TwilioSettings {
  readonly twilioApiUrl: string;
  readonly twilioAccountSid?: string | undefined;
  readonly twilioAuthToken?: string | undefined;
  readonly twilioVerifyServiceSid?: string | undefined;
  readonly twilioVerifyServiceSidRecovery?: string | undefined;
  readonly twilioVerifyServiceSidCredential?: string | undefined;
}

/** Text messages by Twilio Verify. */
export const twilio = {
  name: 'twilio',
  needs: ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_VERIFY_SERVICE_SID', 'SMS_COUNTRIES'],
  takes: ['TWILIO_VERIFY_SERVICE_SID_RECOVERY', 'TWILIO_VERIFY_SERVICE_SID_CREDENTIAL'],
  costs: true,
  remedy: 'allow connections to TWILIO_API_URL',
  create: (outside: DeliveryContext<TwilioSettings>) => createTwilio(outside, accountOf(outside.config)),
  async check(context: CheckContext<TwilioSettings>): Promise<readonly CheckResult[]> {
    const account = accountOf(context.config);
    const purposes = PURPOSES.filter((purpose) => account.services[purpose] !== undefined);
    const found = await Promise.all(purposes.map((purpose) => checkService(context, account, purpose)));
    // A fault of the account is reported once.
    return found.filter(({ text }, i) => found.findIndex((one) => one.text === text) === i);
  },
} as const satisfies DeliveryProvider;

async function checkService(
  { fetch, clock }: CheckContext<TwilioSettings>,
  account: TwilioAccount,
  purpose: Purpose,
): Promise<CheckResult> {
  const headers = { accept: 'application/json', authorization: basic(account) };
  const url = `${account.apiUrl}/v2/Services/${account.services[purpose]}`;
  const { status } = await callUpstream({ fetch, clock }, { url, method: 'GET', headers }, LIMITS);
  if (status === 200)
    return { state: 'ok', text: `Twilio accepts the account and the service for ${purpose}; nothing was sent` };
  if (status === 401 || status === 403)
    return {
      state: 'fail',
      text: `Twilio refuses the credentials (${status})`,
      remedy: 'set TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN',
    };
  if (status !== 404) throw new Error(`Twilio answers ${status}`);
  return {
    state: 'fail',
    text: `the account has no such Verify service for ${purpose}`,
    remedy: `set ${SETTINGS_OF[purpose]} to a service of the account`,
  };
}

const SETTINGS_OF: Readonly<Record<Purpose, string>> = {
  registration: 'TWILIO_VERIFY_SERVICE_SID',
  recovery: 'TWILIO_VERIFY_SERVICE_SID_RECOVERY',
  credential: 'TWILIO_VERIFY_SERVICE_SID_CREDENTIAL',
};

const LIMITS = { timeoutMs: UPSTREAM_TIMEOUT_MS, maxBytes: MESSAGE_ANSWER_BYTES_MAX };

/** An account, its Verify services by purpose, and the base URL of the API (no trailing slash). */
export interface TwilioAccount {
  readonly apiUrl: string;
  readonly accountSid: string;
  readonly authToken: string;
  readonly services: Readonly<Partial<Record<Purpose, string>>>;
}

interface Outside {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/**
 * Sends and checks codes, each purpose with a Verify service of its own: one repeats its code to a number, whatever it
 * is for. Each call takes at most 10 s.
 */
export function createTwilio(outside: Outside, account: TwilioAccount): VerifySms {
  const ask = <T>(path: string, form: Record<string, string>, read: (answer: Answer) => T) =>
    measureUpstream(outside, 'twilio', async () => read(await post(outside, account, path, form)));
  const pathOf = (purpose: Purpose, resource: string) => {
    const service = account.services[purpose];
    if (service === undefined) throw new VaultError('sms_not_configured');
    return `${encodeURIComponent(service)}/${resource}`;
  };
  return {
    kind: 'verify',
    offers: (purpose) => account.services[purpose] !== undefined,
    send(to, language, purpose) {
      const path = pathOf(purpose, 'Verifications');
      return measureDelivery(outside, { channel: 'sms', provider: 'twilio', failure: 'sms_send_failed' }, () =>
        ask(path, { To: to, Channel: 'sms', ...localeOf(language) }, started),
      );
    },
    async check(to, code, purpose) {
      // A text that cannot be a code is wrong: Twilio would answer 60200, as if the number were at fault.
      if (!/^\d{4,10}$/.test(code)) return 'pending';
      try {
        return await ask(pathOf(purpose, 'VerificationCheck'), { To: to, Code: code }, verdict);
      } catch (cause) {
        if (cause instanceof VaultError) throw cause;
        throw new VaultError('sms_provider_error', { cause, extra: { ok: false } });
      }
    },
  };
}

/** Languages that Twilio has templates in; for any other it goes by the number. */
const LOCALES = ['de', 'en', 'es', 'fr', 'it', 'nl', 'pl', 'pt', 'pt-BR', 'ar', 'he', 'ja', 'ko', 'tr', 'ru', 'zh'];

function localeOf(language: string): { readonly Locale?: string } {
  const found = findLanguage(LOCALES, language);
  return found === undefined ? {} : { Locale: found };
}

function accountOf(config: TwilioSettings): TwilioAccount {
  const { twilioApiUrl: apiUrl, twilioAccountSid, twilioAuthToken, twilioVerifyServiceSid: registration } = config;
  if (twilioAccountSid === undefined || twilioAuthToken === undefined || registration === undefined)
    throw new Error('SMS_PROVIDER=twilio needs TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_VERIFY_SERVICE_SID');
  const { twilioVerifyServiceSidRecovery: recovery, twilioVerifyServiceSidCredential: credential } = config;
  const services = { registration, ...(recovery && { recovery }), ...(credential && { credential }) };
  return { apiUrl, accountSid: twilioAccountSid, authToken: twilioAuthToken, services };
}

function basic({ accountSid, authToken }: Pick<TwilioAccount, 'accountSid' | 'authToken'>): string {
  return `Basic ${btoa(String.fromCharCode(...utf8(`${accountSid}:${authToken}`)))}`;
}

/** The HTTP status with the two fields that decide: `status` of a verification, `code` of an error. */
interface Answer {
  readonly http: number;
  readonly status?: unknown;
  readonly code?: unknown;
}

async function post(
  outside: Outside,
  account: TwilioAccount,
  path: string,
  form: Record<string, string>,
): Promise<Answer> {
  const { apiUrl, accountSid, authToken } = account;
  const request = {
    url: `${apiUrl}/v2/Services/${path}`,
    method: 'POST',
    headers: {
      authorization: basic({ accountSid, authToken }),
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams(form).toString(),
  } as const;
  const { status, text } = await callUpstream(outside, request, LIMITS);
  return { ...parse(text, status), http: status };
}

function parse(text: string, http: number): object {
  const answer = parseJson(text);
  if (isObject(answer)) return answer;
  throw http < 300 ? new UpstreamError('malformed') : new UpstreamError('refused', String(http), http === 401);
}

/** Twilio's own limit of a number: five sends, and five checks, of a code that lives for ten minutes. */
const SENDS_OF_TWILIO = {
  name: 'sms-provider',
  limit: 5,
  windowSeconds: SMS_CODE_EXPIRY_SECONDS,
  retryAfterSeconds: SMS_CODE_EXPIRY_SECONDS,
};

/** Throws unless a verification is under way. */
function started(answer: Answer): void {
  if (answer.http >= 200 && answer.http < 300 && answer.status === 'pending') return;
  // Too many sends, and too many checks of the number's pending code: both pass with that code.
  if (answer.http === 429 && (answer.code === 60203 || answer.code === 60202)) {
    throw new VaultError('rate_limited', { limit: SENDS_OF_TWILIO });
  }
  throw refused(answer);
}

function verdict(answer: Answer): ProviderVerdict {
  const { http, status, code } = answer;
  if (http === 200 && (status === 'approved' || status === 'pending')) return status;
  // A verification that expired, was approved before or was never started is no longer there.
  if (http === 404 && code === 20404) return 'expired';
  if (http === 429 && code === 60202) return 'exhausted';
  throw refused(answer);
}

function refused({ http, code }: Answer): Error {
  if (http === 400 && code === 60200) return badRequest('Invalid identifier');
  // The credentials, or the account's own rate: nothing was sent, whatever the number.
  const isOurs = http === 401 || (http === 429 && code === 20429);
  return new UpstreamError('refused', /^\d{5}$/.test(String(code)) ? `${http}, ${code}` : String(http), isOurs);
}
