import { createPublicKey } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { parseJson } from '../../lib/base/json.ts';
import type { Sight } from '../../lib/doctor/host.ts';
import type { BuiltIn } from '../../lib/words/words.ts';
import { openAssets } from '../serve/assets.ts';
import { operatorFiles } from '../setup/operator-files.ts';
import { createTxt } from './dns.ts';

/** One for all pages, as a program from source builds the files at the first question. */
const ASSETS = openAssets();

/** The doctor's view through this process. */
export const SIGHT: Sight = {
  async addressesOf(name) {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  },
  txt: createTxt(),
  publicKeyOf(pem) {
    try {
      return createPublicKey(pem).export({ type: 'spki', format: 'der' }).toString('base64');
    } catch {
      return undefined;
    }
  },
  /** Loaded only where it is asked for, as it is half of the program's start. */
  async connect(smtpUrl) {
    const { smtpMailer } = await import('../mail/smtp.ts');
    return smtpMailer(smtpUrl);
  },
  operatorFiles,
  builtIn(page) {
    return async (language) => {
      const answer = await ASSETS.fetch(new Request(`https://assets.invalid/words/${language}/${page}.json`));
      return parseJson(await answer.text()) as Awaited<ReturnType<BuiltIn>>;
    };
  },
};
