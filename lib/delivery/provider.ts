import type { Catalogue } from '../../client/catalogue.ts';
import type { Clock } from '../base/clock.ts';
import type { Fetch } from '../base/http-client.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Purpose } from '../base/purpose.ts';
import type { ChallengeNews } from './challenge-message.ts';
import type { PasskeyNews } from './passkey-message.ts';
import type { RecoveryNews } from './recovery-message.ts';

/** One way to deliver codes. Settings, rules, the doctor and the start read it; a new one is listed in providers.ts. */
export interface DeliveryProvider {
  /** The word of `EMAIL_PROVIDER` or `SMS_PROVIDER`. */
  readonly name: string;
  /** The variables that have to be set with it. */
  readonly needs: readonly string[];
  /** Those that it reads too, if they are set. */
  readonly takes?: readonly string[];
  /** Each message costs money, so the settings must say which countries SMS are sent to. */
  readonly costs?: true;
  /** It prints the codes: for trying out, and refused on public hosts. */
  readonly prints?: true;
  /** The remedy where its check throws, or does not end. */
  readonly remedy: string;
  /** Creates the sender, given a `DeliveryContext` with its settings. Throws when one is missing. */
  readonly create: (outside: never) => unknown;
  /** Whether it would send, given a `CheckContext` with its settings; one that prints has nothing to check. */
  readonly check?: (outside: never) => Promise<readonly CheckResult[]>;
}

/**
 * The result of a check, in the doctor's words: `warn` works, with a flaw; `skip` could not be tried. No text holds a
 * secret.
 */
export interface CheckResult {
  readonly state: 'ok' | 'warn' | 'fail' | 'skip';
  readonly text: string;
  readonly remedy?: string;
}

/** The parts of a service's brand that a mail shows. */
export interface MailBrand {
  readonly name: string;
  /** The host of an app whose people sign in at `/authorize`; without one that of `BASE_URL`. */
  readonly site?: string | undefined;
  /** Where replies go. */
  readonly support: string | undefined;
  /** The colours of links; undefined for the pages' own. */
  readonly color: { readonly light: string; readonly dark: string } | undefined;
  /** Whether it is an app's own. */
  readonly isOwn: boolean;
}

/** The words of mails, and how their language is written. */
export interface MailWords {
  readonly words: Catalogue;
  readonly english: readonly string[];
  readonly direction: 'ltr' | 'rtl';
}

/** The settings and services that every provider gets. */
export interface DeliveryContext<Config> {
  readonly config: Config;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The brand of an app. */
  readonly brandOf: (app: string) => MailBrand;
  /** The words of mails in a language. */
  readonly wordsOf: (language: string) => Promise<MailWords>;
}

/**
 * The settings and services of a check, which sends nothing. `connect` is the host's mail server, for providers that
 * need sockets; undefined on a host without sockets.
 */
export interface CheckContext<Config> {
  readonly config: Config;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly connect?: ((smtpUrl: string) => Promise<{ verify(): Promise<void>; close(): Promise<void> }>) | undefined;
}

/** A message on its way: a code, the link of a pass, or both; or a notice without either. */
export interface CodeMail {
  readonly to: string;
  /** The app whose brand it shows. */
  readonly app: string;
  /** One of the vault's languages. */
  readonly language: string;
  /** Absent when the message carries the pass alone, because somebody has been guessing. */
  readonly code?: string | undefined;
  readonly pass?: string | undefined;
  /** The purpose of the code; if absent, to sign up. */
  readonly purpose?: Purpose | undefined;
  /** Another DID has taken the address or the number over, or it is the operator's test. */
  readonly notice?: 'taken_over' | 'test';
  /** The state of a recovery of an account. */
  readonly recovery?: RecoveryNews;
  /** The state of another DID's claim to an address of the reader's. */
  readonly challenge?: ChallengeNews;
  /** A passkey that is new to the reader's account was used. */
  readonly passkey?: PasskeyNews;
  /** Names the mail, so that one that is sent again is the same one. */
  readonly messageId?: string;
  readonly lifetimeSeconds: number;
}

/** Text messages are switched off. */
export interface NoSms {
  readonly kind: 'none';
}

/** The vault keeps the code and the provider only carries it. Throws 502 `sms_send_failed`. */
export interface OwnSms {
  readonly kind: 'own';
  send(message: CodeMail): Promise<void>;
}

/**
 * The verdict on a guess by a provider that keeps the code; `pending` is a wrong guess, after which another is allowed.
 */
export type ProviderVerdict = 'approved' | 'pending' | 'expired' | 'exhausted';

/**
 * The provider keeps the code. `send` throws 502 `sms_send_failed`, 429 `rate_limited` or 400 `Invalid identifier`;
 * `check` throws 502 `sms_provider_error`. No cause holds a number, code or key.
 */
export interface VerifySms {
  readonly kind: 'verify';
  /** Whether codes of a purpose can be kept apart from others. */
  offers(purpose: Purpose): boolean;
  send(to: string, language: string, purpose: Purpose): Promise<void>;
  check(to: string, code: string, purpose: Purpose): Promise<ProviderVerdict>;
}
