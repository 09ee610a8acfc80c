// An authorization request that the person has answered: by evidence of a registration, or by Cancel.
import { type AuthorizationRequest, issueCode } from '../authorization-codes/authorize.ts';
import { countRefusal } from '../authorization-codes/count.ts';
import { badRequest } from '../base/error.ts';
import type { Clients } from '../clients/client.ts';
import type { SigningContext } from '../signing/signing-keys.ts';
import { answerLocation } from './answer.ts';
import { type AddressChoice, findChoice, type Picked } from './choice.ts';
import type { DocumentContext } from './client-documents.ts';
import { subjectOfHint } from './id-token.ts';
import type { ValidRequest } from './judge.ts';
import { judgeRequest } from './judge-request.ts';
import { type SubjectContext, subjectOf } from './subject.ts';

type Ctx = Parameters<typeof issueCode>[0] &
  SigningContext &
  SubjectContext &
  DocumentContext & { readonly clients: Clients };

/** The person's answer on the page. */
export interface PersonsAnswer extends Pick<AuthorizationRequest, 'request' | 'client' | 'credentialId' | 'evidence'> {
  /** Undefined where the person was not asked yet. */
  readonly picked: Picked | undefined;
  /** Is called before the document of a client is fetched; throws where the caller has fetched enough. */
  readonly spend: () => void;
}

/** The page's next step: a redirect, or the choice of an address for the app. */
export type NextStep = { readonly location: string } | { readonly choice: PersonsChoice };

/** The addresses to choose from, with the DID, account and key by which another address is registered. */
export interface PersonsChoice extends AddressChoice {
  readonly did: string;
  /** The account, lower-case, and the key that has signed, 0x and x‖y in hex. */
  readonly account: string;
  readonly key: string;
}

/**
 * Where the browser goes: with a code, or with `login_required` where somebody other than `id_token_hint` names signed
 * in. Or the choice of addresses that comes before. Throws 400 for an invalid request, and as `issueCode`.
 */
export async function answerRequest(ctx: Ctx, { picked, spend, ...answer }: PersonsAnswer): Promise<NextStep> {
  const valid = await demandValid(ctx, answer.request, spend);
  const { client, app, redirectUri, challenge, scopes, target, nonce, maxAge, hinted } = valid;
  try {
    const code = await issueCode(ctx, {
      ...answer,
      clientId: client.id,
      app,
      redirectUri,
      codeChallenge: challenge,
      scope: [...scopes, ...(target?.scopes ?? [])].join(' '),
      resource: target?.resource.url ?? null,
      nonce,
      picked: picked ?? {},
      maxAge,
      async admit(signIn, key) {
        const { did, account } = signIn;
        if (hinted !== undefined && hinted !== (await subjectOf(ctx, target?.resource ?? client, did)))
          throw new AnotherPerson();
        const choice = await findChoice(ctx, valid, signIn, picked);
        if (choice) throw new ChoiceNeeded({ ...choice, did, account, key });
      },
    });
    return { location: answerLocation(ctx.config.baseUrl, valid, { code }) };
  } catch (error) {
    if (error instanceof ChoiceNeeded) return { choice: error.choice };
    if (!(error instanceof AnotherPerson)) throw error;
    const about = 'another person signed in than id_token_hint names';
    countRefusal(ctx, client.id, 'page', 'login_required');
    return {
      location: answerLocation(ctx.config.baseUrl, valid, { error: 'login_required', error_description: about }),
    };
  }
}

/** Where the browser goes after Cancel. Throws 400 for a request that is not in order. */
export async function cancelRequest(ctx: Ctx, request: string, spend: () => void): Promise<string> {
  const about = 'the person cancelled';
  const place = await demandValid(ctx, request, spend);
  countRefusal(ctx, place.client.id, 'page', 'access_denied');
  return answerLocation(ctx.config.baseUrl, place, { error: 'access_denied', error_description: about });
}

/** The request with its hint judged: the subject that it names, or undefined without one. */
export interface HintedRequest extends ValidRequest {
  readonly hinted: string | undefined;
}

/** Judges `id_token_hint` of an otherwise valid request; undefined for a text that is not a token of the client's. */
export async function judgeHint(ctx: SigningContext, valid: ValidRequest): Promise<HintedRequest | undefined> {
  const { idTokenHint, client } = valid;
  if (idTokenHint === undefined) return { ...valid, hinted: undefined };
  const hinted = await subjectOfHint(ctx, idTokenHint, client);
  return hinted === undefined ? undefined : { ...valid, hinted };
}

/** The description of the error for a refused hint. */
export const HINT_REFUSED = 'id_token_hint is no ID token of this client';

async function demandValid(ctx: Ctx, request: string, spend: () => void): Promise<HintedRequest> {
  const judged = await judgeRequest(ctx, request, spend);
  if ('fault' in judged) throw badRequest(`Invalid request: ${judged.fault}`);
  if ('error' in judged) throw badRequest(`Invalid request: ${judged.about}`);
  const hinted = await judgeHint(ctx, judged.valid);
  if (!hinted) throw badRequest(`Invalid request: ${HINT_REFUSED}`);
  return hinted;
}

class ChoiceNeeded extends Error {
  override readonly name = 'ChoiceNeeded';
  readonly choice: PersonsChoice;

  constructor(choice: PersonsChoice) {
    super('the person chooses an address');
    this.choice = choice;
  }
}

class AnotherPerson extends Error {
  override readonly name = 'AnotherPerson';
}
