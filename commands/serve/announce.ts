import { join, resolve } from 'node:path';
import type { Log } from '../../lib/base/log.ts';
import { VERSION } from '../../lib/base/version.ts';
import { maskSetting } from '../../lib/config/setting.ts';
import { SETTINGS } from '../../lib/config/settings.ts';
import { chosenProvider, DELIVERY_CHANNELS, namesBut } from '../../lib/delivery/providers.ts';
import { SECRET_FILES } from '../setup/secrets.ts';
import { isEmbedded, type Settings } from '../setup/settings.ts';

/** Prints address, data, defaults in use and next steps: as text on a terminal, otherwise as one log entry. */
export function announce(settings: Settings, migrationsApplied: number, log: Log): void {
  const { config } = settings;
  const facts = {
    url: listenUrl(config.host, config.port),
    baseUrl: config.baseUrl,
    ...(config.adminPort === undefined ? {} : { adminUrl: listenUrl(config.adminHost, config.adminPort) }),
    data: dataPlace(config.databaseUrl),
    chain: `${config.chainName} (${config.chainId})`,
  };
  const hints = findHints(settings);
  if (config.logFormat === 'pretty') console.log(inWords({ ...facts, console: consolePlace(settings) }, hints));
  else {
    const defaults = Object.fromEntries(hints.map(({ setting, text }) => [setting, text]));
    log({
      level: 'info',
      event: 'listening',
      ...facts,
      version: VERSION,
      migrationsApplied,
      defaults,
      next: NEXT,
    });
  }
}

const NEXT = 'vault init asks for the first ones, vault config shows those in force, vault help settings lists all';

interface Hint {
  readonly setting: string;
  readonly text: string;
}

/** Hints on settings that work but are meant for trying out. */
function findHints({ config, sources }: Settings): readonly Hint[] {
  const hints: Hint[] = DELIVERY_CHANNELS.flatMap((channel) => {
    const { setting, codes } = channel;
    const provider = chosenProvider(channel, config);
    if (!provider?.prints) return [];
    return [
      { setting, text: `${codes} are printed here instead of sent: set ${setting} to ${namesBut(provider, channel)}` },
    ];
  });
  if (sources['RPC_URL'] === undefined && sources[`RPC_URL_${config.chainId}`] === undefined)
    hints.push({
      setting: 'RPC_URL',
      text: `${config.chainName} is read through its public endpoint, which limits requests: set RPC_URL to your own endpoint`,
    });
  if (sources['BASE_URL'] === undefined)
    hints.push({
      setting: 'BASE_URL',
      text: 'only this machine can reach the vault: set BASE_URL to a public https origin to serve others',
    });
  return hints;
}

function inWords(
  facts: Readonly<Record<'url' | 'baseUrl' | 'console' | 'data' | 'chain', string>> & {
    readonly adminUrl?: string;
  },
  hints: readonly Hint[],
): string {
  const lines = [
    `vault ${VERSION} is listening on ${facts.url}`,
    '',
    `  origin   ${facts.baseUrl}`,
    ...(facts.adminUrl === undefined ? [] : [`  admin    ${facts.adminUrl}`]),
    `  console  ${facts.console}`,
    `  data     ${facts.data}`,
    `  chain    ${facts.chain}`,
    ...(hints.length > 0 ? ['', 'Defaults in use:', ...hints.map(({ text }) => `  - ${text}`)] : []),
    '',
    `Try it:    curl ${facts.url}/api/status`,
    `Settings:  ${NEXT}. Ctrl+C stops.`,
    '',
  ];
  return lines.join('\n');
}

function listenUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Its address, and where the secret that opens it is; never the secret. */
function consolePlace({ config, sources }: Settings): string {
  const source = sources['OPERATOR_SECRET'];
  const secretFile = resolve(join(config.dataDir, SECRET_FILES.OPERATOR_SECRET));
  const key = source?.startsWith('generated') ? `with the secret in ${secretFile}` : 'with your OPERATOR_SECRET';
  const { adminHost, adminPort } = config;
  const origin = adminPort === undefined ? config.baseUrl : listenUrl(adminHost, adminPort);
  return `${origin}/console, sign in ${source === undefined ? 'once OPERATOR_SECRET is set' : key}`;
}

function dataPlace(databaseUrl: string): string {
  return isEmbedded(databaseUrl)
    ? resolve(decodeURIComponent(databaseUrl.slice('file:'.length)))
    : maskSetting(SETTINGS.DATABASE_URL, databaseUrl);
}
