import { offersCredentials } from '../config/credential-settings.ts';
import { isLoopbackHost } from '../config/url-parsers.ts';
import { type DoctorCheck, type Finding, ok, warn } from './finding.ts';
import type { Examined } from './host.ts';
import { countKeys, differenceOf, type KeyDifference, keysIn, readAnswer } from './published-keys.ts';
import { troubleOf } from './trouble.ts';

const PATH = '/.well-known/jwt-vc-issuer';
const REMEDY = `lead ${PATH} to the vault, or set CREDENTIAL_TTL_SECONDS=0; see docs/proxies.md`;
const OTHER_KEYS = `have no proxy or CDN keep ${PATH} for longer than its Cache-Control says, and lead it to a vault on this database; see docs/proxies.md`;

const DIFFERENCES: Readonly<Record<KeyDifference, string>> = {
  current: 'lacks the key that signs: verifiers refuse each new credential',
  missing: 'lacks a key of credentials: verifiers will refuse what it signs, or has signed',
  foreign: 'has a key that the database does not have: verifiers still take what it signs, as after a theft',
};

/** The issuer of credentials as verifiers find it; nobody else reads one on loopback. */
export function credentialChecks(examined: Examined): readonly DoctorCheck[] {
  const { config } = examined;
  if (!offersCredentials(config) || isLoopbackHost(new URL(config.baseUrl).hostname)) return [];
  return [{ name: 'credentials', remedy: REMEDY, run: () => checkIssuer(examined) }];
}

async function checkIssuer({ config: { baseUrl }, stored, ...outside }: Examined): Promise<readonly Finding[]> {
  const url = baseUrl + PATH;
  const say = (text: string, remedy = REMEDY) => [warn('credentials', text, remedy)];
  try {
    const answer = await readAnswer(outside, url);
    if (answer?.['issuer'] !== baseUrl)
      return say(`verifiers that read ${baseUrl} find no issuer of credentials, or another one`);
    const keys = keysIn(answer['jwks']);
    if (keys.length === 0) return say(`verifiers find no key at ${url}`);
    const { credentialKeys = [] } = (await stored?.().catch(() => undefined)) ?? {};
    const difference = differenceOf(keys, credentialKeys, outside.clock.now());
    if (difference !== undefined) return say(`${url} ${DIFFERENCES[difference]}`, OTHER_KEYS);
    return [ok('credentials', `verifiers find the issuer ${baseUrl} and ${countKeys(keys)}`)];
  } catch (error) {
    const trouble = troubleOf(error, REMEDY);
    return say(`verifiers cannot read the issuer ${baseUrl}: ${trouble.text}`, trouble.remedy);
  }
}
