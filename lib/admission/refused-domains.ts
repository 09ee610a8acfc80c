import type { Log } from '../base/log.ts';
import type { OperatorFiles } from '../base/operator-files.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { readSettingFile } from '../config/setting-file.ts';
import { asciiDomain } from '../identity/identifier.ts';

/** The largest file: a list of three hundred thousand domains. */
export const REFUSED_DOMAINS_BYTES_MAX = 8 * 1024 * 1024;

/** The domains of `REFUSED_MAIL_DOMAINS_FILE`, which are read again when the file has changed. */
export interface RefusedDomains {
  /** Whether the file names the domain (in ASCII), or one above it. */
  has(domain: string): boolean;
  /** Reads the file again: how many domains it names now, undefined if it is the same. Throws `ConfigError`. */
  reload(): number | undefined;
}

/** Reads the file. Throws `ConfigError` where it is missing, too large, or has a line that is not a domain. */
export function createRefusedDomains(
  { refusedMailDomainsFile: path }: Pick<Config, 'refusedMailDomainsFile'>,
  files: OperatorFiles | undefined,
): RefusedDomains {
  let text = '';
  let domains: ReadonlySet<string> = new Set();
  const reload = () => {
    if (path === undefined) return undefined;
    const now = readText(path, files);
    if (now === text) return undefined;
    domains = parseDomains(now);
    text = now;
    return domains.size;
  };
  reload();
  return { has: (domain) => domains.size > 0 && isListed(domain, domains), reload };
}

interface Reloading {
  readonly refusedDomains: RefusedDomains;
  readonly log: Log;
}

/** One turn of a background task: reads the file again. One that is at fault leaves the domains as they were. */
export async function reloadRefusedDomains({ refusedDomains, log }: Reloading): Promise<false> {
  try {
    const domains = refusedDomains.reload();
    if (domains !== undefined) log({ level: 'info', event: 'refused_domains_read', domains });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    log({ level: 'warn', event: 'refused_domains_unread', message: error.message });
  }
  return false;
}

/** The domains of a text: one a line, in any case and script; `#` begins a comment. Throws `ConfigError`. */
export function parseDomains(text: string): ReadonlySet<string> {
  const domains = new Set<string>();
  text.split('\n').forEach((line, i) => {
    const [given = ''] = line.split('#', 1);
    const trimmed = given.trim().replace(/\.$/, '');
    if (trimmed === '') return;
    const domain = asciiDomain(trimmed.normalize('NFC'))?.toLowerCase();
    if (domain === undefined || /^[\d.]+$/.test(domain)) throw fault(`has no domain in line ${i + 1}`);
    domains.add(domain);
  });
  return domains;
}

function isListed(domain: string, domains: ReadonlySet<string>): boolean {
  for (let rest = domain; rest !== ''; rest = rest.slice(rest.indexOf('.') + 1)) {
    if (domains.has(rest)) return true;
    if (!rest.includes('.')) return false;
  }
  return false;
}

function readText(path: string, files: OperatorFiles | undefined): string {
  const file = { name: 'REFUSED_MAIL_DOMAINS_FILE', path, maxBytes: REFUSED_DOMAINS_BYTES_MAX } as const;
  return new TextDecoder().decode(readSettingFile(file, files));
}

function fault(problem: string): ConfigError {
  return new ConfigError([{ name: 'REFUSED_MAIL_DOMAINS_FILE', problem: `names a file that ${problem}` }]);
}
