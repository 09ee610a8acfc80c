import type { Clock } from './base/clock.ts';
import type { Fetch } from './base/http-client.ts';
import type { Log } from './base/log.ts';
import type { OperatorFiles } from './base/operator-files.ts';
import type { Random } from './base/random.ts';
import type { Config } from './config/config.ts';
import type { Database } from './db/database.ts';
import type { Mailer } from './delivery/smtp.ts';
import type { OpenHost } from './doctor/service.ts';
import type { ProcessState } from './monitoring/process-metrics.ts';
import type { KeepErasures } from './person/erase.ts';
import type { Assets } from './static-files.ts';

/** Everything the vault takes from outside, given once. Only `vars` and `database` are required. */
export interface Env {
  /** Settings as strings by their variable names (`docs/settings.md`). */
  readonly vars: Readonly<Record<string, string | undefined>>;
  /** Where everything is stored; a `Client` of `@libsql/client` fits as it is. */
  readonly database: Database;
  /** Sends mail over SMTP; required when `EMAIL_PROVIDER` is `smtp`. */
  readonly mail?: Mailer | undefined;
  /** The static files, such as `packageAssets()` of `vault/node`; without it their paths answer 404. */
  readonly assets?: Assets | undefined;
  /** The files that settings such as `BRAND_LOGO` and `REFUSED_MAIL_DOMAINS_FILE` name; required where they are set. */
  readonly operatorFiles?: OperatorFiles | undefined;
  /**
   * Whether `CLIENT_IP_HEADER` is trusted on requests without a `peer`: true only behind a proxy that overwrites it.
   */
  readonly trustClientIpHeader?: boolean;
  /**
   * Isolate requests: no shared queues or commits, and a reply is sent only when all that its request started is
   * done. True on Workers, where work ends with its request.
   */
  readonly isolatesRequests?: boolean;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly fetch?: Fetch;
  /**
   * Posts webhooks where the host can check the address that it connects to (`docs/webhooks.md`); else `fetch` does.
   */
  readonly webhookFetch?: Fetch | undefined;
  /**
   * Reads what strangers name, from public addresses alone: documents of clients of `CLIENT_METADATA_HOSTS`, issuers of
   * email tokens. Else `fetch` does.
   */
  readonly documentFetch?: Fetch | undefined;
  /** Keeps a list of erasures outside the database, for a restore (`docs/privacy.md`). */
  readonly keepErasures?: KeepErasures | undefined;
  /** Reads the resources of the host's process, for `/metrics`. */
  readonly process?: (() => ProcessState) | undefined;
  /** The host's parts for the doctor beyond Fetch: its files, disk and names. */
  readonly doctor?: OpenHost | undefined;
  /** The log sink, such as `console.log`; entries are already masked. Without it no provider may be `log`. */
  readonly log?: Log;
}

/** Work that a host has done already, so that the vault does not do it again. */
export interface Begun {
  /** The settings, read from `vars`. */
  readonly config?: Config;
  /** Whether `prepareDatabase` has run on the database. */
  readonly isPrepared?: boolean;
}
