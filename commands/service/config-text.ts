import { maskSetting, type Vars } from '../../lib/config/setting.ts';
import { SETTINGS, type SettingName } from '../../lib/config/settings.ts';
import type { Given } from '../setup/vars.ts';

/** What a service needs beyond the defaults. */
export function serviceDefaults(hasProxy: boolean): Vars {
  return {
    DATA_DIR: '/var/lib/vault',
    ADMIN_PORT: '8790',
    ...(hasProxy ? { TRUSTED_PROXIES: '127.0.0.1/32,::1/128' } : {}),
  };
}

/** The first settings of a service: what was given. */
export function configText({ vars, sources }: Pick<Given, 'vars' | 'sources'>): string {
  const given = Object.entries(vars).flatMap(([name, value = '']) => lineOf(name, value, sources[name]));
  const isMissing = (line: string) => vars[/^# (\w+?)(?:_FILE)?=/.exec(line)?.[1] ?? ''] === undefined;
  const examples = EXAMPLES.filter(isMissing);
  return `# The settings of vault.service. "vault help settings" lists all; "vault doctor" finds what is missing.
${[...given, ...(examples.length > 0 ? ['', '# Examples:', ...examples] : [])].join('\n')}
`;
}

/** As `configText`, to be shown: without secrets. */
export function shownConfigText({ vars, sources }: Pick<Given, 'vars' | 'sources'>): string {
  const shown = Object.entries(vars).map(([name, value = '']) => [
    name,
    maskSetting(SETTINGS[name as SettingName], value),
  ]);
  return configText({ vars: Object.fromEntries(shown), sources });
}

const EXAMPLES = [
  '# BASE_URL=https://vault.example.com',
  '# EMAIL_PROVIDER=smtp',
  '# EMAIL_FROM=Example <no-reply@example.com>',
  '# SMTP_URL_FILE=/etc/vault/smtp-url',
  '# RPC_URL=https://…',
];

/** As the settings file is read: a secret that came from a file stays there, and outer quotes are kept by others. */
function lineOf(name: string, value: string, source = ''): string[] {
  const [, path] = new RegExp(`^${name}_FILE (.*)$`).exec(source) ?? [];
  if (path !== undefined) return [`${name}_FILE=${path}`];
  const isQuoted = /^\s|\s$|^(["']).*\1$/.test(value);
  return [`${name}=${isQuoted ? `"${value}"` : value}`];
}
