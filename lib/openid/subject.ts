import { fromHex, toBase64url, toHex, utf8 } from '../base/bytes.ts';
import { hmacDigest } from '../base/hmac.ts';
import type { Client } from '../clients/client.ts';
import type { Platform } from '../platform.ts';
import { insertSalt, selectSalt } from './salt-store.ts';

/** The salt of subjects, once it is read: it never changes. */
export interface SaltFacts {
  salt: Uint8Array | undefined;
}

/** The services that subjects need. */
export type SubjectContext = Pick<Platform, 'db' | 'random'> & { readonly saltFacts: SaltFacts };

/**
 * The `sub` of a person for the clients of a sector (OpenID Connect Core section 8.1): two sectors cannot put their
 * records together by it. The salt is made once and stays, whatever becomes of `VAULT_SECRET`.
 */
export async function subjectOf(ctx: SubjectContext, { sector }: Pick<Client, 'sector'>, did: string): Promise<string> {
  const { saltFacts } = ctx;
  const salt = saltFacts.salt ?? (await readSalt(ctx));
  saltFacts.salt = salt;
  return toBase64url(hmacDigest(salt)(utf8(`${sector}\n${did}`)));
}

async function readSalt({ db, random }: SubjectContext): Promise<Uint8Array> {
  const [known] = await db.read(selectSalt());
  const [, made] = known ? [] : await db.write(insertSalt(toHex(random(32))), selectSalt());
  const salt = fromHex(String((known ?? made?.rows[0])?.['salt']));
  if (salt?.length !== 32) throw new Error('the salt of subjects is damaged');
  return salt;
}
