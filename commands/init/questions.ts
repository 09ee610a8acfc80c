import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findContradictions } from '../../lib/config/contradictions.ts';
import type { FIRST_TOPICS } from '../../lib/config/first-settings.ts';
import { isRedirectUri, parseOrigin, REDIRECT_URI_FORM } from '../../lib/config/url-parsers.ts';
import { askNode, askRegistrar } from './ask-chain.ts';
import { askMail, askSms } from './ask-delivery.ts';
import { ask, askSetting, configSoFar, confirm, type Interview, isPublic, remark, UNSET } from './interview.ts';

/** A topic that `vault init` asks about. */
export interface Topic {
  readonly name: keyof typeof FIRST_TOPICS;
  /** Whether it is asked, by the answers before. */
  readonly isAsked?: (interview: Interview) => boolean;
  readonly ask: (interview: Interview) => Promise<void>;
}

/** The topics of the interview, in this order: nine at most. */
export const INTERVIEW: readonly Topic[] = [
  {
    name: 'address',
    ask: (interview) => askSetting(interview, 'BASE_URL', { words: 'BASE_URL', meant: withScheme }),
  },
  { name: 'passkeys', isAsked: isPublic, ask: askPasskeys },
  { name: 'proxy', isAsked: isPublic, ask: askProxy },
  { name: 'mail', ask: askMail },
  { name: 'sms', ask: askSms },
  { name: 'chain', ask: askNode },
  { name: 'registrar', ask: askRegistrar },
  { name: 'apps', ask: askApps },
  { name: 'brand', ask: (interview) => askSetting(interview, 'BRAND_NAME') },
];

/** `vault.example.com` is meant as its https origin. */
function withScheme(text: string): string {
  const origin = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? undefined : parseOrigin(`https://${text}`);
  return origin ?? text;
}

/** An RP ID that no page of the vault can use is rarely meant. */
async function askPasskeys(interview: Interview): Promise<void> {
  for (;;) {
    await askSetting(interview, 'RP_IDS');
    const { vars, given } = interview;
    const config = configSoFar(interview, { TRUSTED_PROXIES: 'none', EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none' });
    // Written down even where it is the default: it stays when BASE_URL changes.
    vars['RP_IDS'] ??= config.rpIds.join(',');
    const [found] = findContradictions(config, (name) => name === 'RP_IDS');
    if (found === undefined || given['RP_IDS'] !== undefined) return;
    remark(interview, `! ${found.name} ${found.problem}: ${found.remedy}.`);
    if (await confirm(interview, 'Keep it all the same', !interview.dialog.isTerminal)) return;
    delete vars['RP_IDS'];
  }
}

/** Behind a proxy the operator's pages get a port of their own. */
async function askProxy(interview: Interview): Promise<void> {
  await askSetting(interview, 'TRUSTED_PROXIES', { offer: '127.0.0.1/32,::1/128' });
  // Its default is unset, and would be refused: none is a choice.
  interview.vars['TRUSTED_PROXIES'] ??= 'none';
  await askSetting(interview, 'ADMIN_PORT', { offer: '8790' });
}

/** Without a registrar's key nobody signs in to an app. The file of the apps is written where there is none. */
async function askApps(interview: Interview): Promise<void> {
  await askSetting(interview, 'APPS', { words: 'APPS, such as shop,forum' });
  const { vars, given, folder, files } = interview;
  if (vars['REGISTRAR_PRIVATE_KEY'] === undefined || vars['APPS'] === undefined) return;
  const path = join(folder, 'clients.json');
  if (given['CLIENTS'] !== undefined || vars['CLIENTS'] !== undefined || existsSync(path))
    return askSetting(interview, 'CLIENTS', { offer: path });
  const entries: Record<string, object> = {};
  for (const app of vars['APPS'].split(',').map((name) => name.trim())) {
    const words = `Where ${app} gets people back, such as https://${app}.example/callback`;
    const judge = (text: string) =>
      text === '' || text === UNSET || isRedirectUri(text) ? undefined : `It must be a URI ${REDIRECT_URI_FORM}`;
    const uri = await ask(interview, { words, fallback: '', judge });
    if (uri !== '' && uri !== UNSET) entries[app] = { redirect_uris: [uri] };
  }
  if (Object.keys(entries).length === 0) return;
  vars['CLIENTS'] = path;
  files.set(path, `${JSON.stringify(entries, null, 2)}\n`);
}
