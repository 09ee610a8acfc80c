import type { Clock } from '../base/clock.ts';
import type { Fetch } from '../base/http-client.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { OperatorFiles } from '../base/operator-files.ts';
import type { Rpc } from '../chain/rpc.ts';
import type { Config } from '../config/config.ts';
import type { BuiltIn, ServedPage } from '../words/words.ts';
import type { DoctorCheck } from './finding.ts';
import type { StoredFacts } from './stored.ts';

/**
 * The host's services for the doctor beyond Fetch: name look-ups, sockets for mail, files, and the host's own checks.
 */
export interface DoctorHost {
  /** The addresses of a host name. Rejects if there are none. */
  readonly addressesOf: (name: string) => Promise<readonly string[]>;
  /** The TXT records of a name, each as one text; empty where there are none. Rejects if DNS does not answer. */
  readonly txt: (name: string) => Promise<readonly string[]>;
  /** The public half of a private key in PEM, as SubjectPublicKeyInfo in base64; undefined if it cannot be read. */
  readonly publicKeyOf: (pem: string) => string | undefined;
  /** The mail server of `SMTP_URL`. */
  readonly connect: (smtpUrl: string) => Promise<{ verify(): Promise<void>; close(): Promise<void> }>;
  readonly operatorFiles: OperatorFiles;
  /** The vault's own words of a page. */
  readonly builtIn: (page: ServedPage) => BuiltIn;
  /** Checks of things that only the host sees: files, disk and database. They run after all others. */
  readonly checks: readonly DoctorCheck[];
}

/** The host without its checks. */
export type Sight = Omit<DoctorHost, 'checks'>;

/** The text of a check that needs a host, where the host lends nothing. */
export const UNSEEN = 'the host of this vault cannot check it';

/** The inputs of every check. */
export interface Examined {
  readonly config: Config;
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** Whether `TRUSTED_PROXIES` is set; its default is for development. */
  readonly namesProxies: boolean;
  /** Undefined on a host that lends the doctor nothing. */
  readonly host: Sight | undefined;
  /** The facts in the database; undefined where there is none yet. Rejects if it cannot be read. */
  readonly stored?: (() => Promise<StoredFacts | undefined>) | undefined;
}

/** HTTP client with its own metrics, so the doctor's calls are not counted as the vault's. */
export interface Outside {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** The configured chain. */
export interface ExaminedChain extends Outside {
  readonly config: Config;
  readonly rpc: Rpc;
}
