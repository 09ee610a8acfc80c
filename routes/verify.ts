import * as v from 'valibot';
import { admissionOf, demandAdmission, isAdmitted } from '../lib/admission/admission.ts';
import { isoTime } from '../lib/base/clock.ts';
import { badRequest } from '../lib/base/error.ts';
import { PURPOSES, type Purpose } from '../lib/base/purpose.ts';
import type { Config } from '../lib/config/config.ts';
import { offersCredentials } from '../lib/config/credential-settings.ts';
import type { Context } from '../lib/context.ts';
import { issueByCode } from '../lib/credentials/by-code.ts';
import {
  type Identifier,
  type ProvableChannel,
  parseIdentifier,
  parseQueryIdentifier,
} from '../lib/identity/identifier.ts';
import { assertionOf } from '../lib/identity/passkey.ts';
import { judgeHoldersTouch, KEEP_LABEL } from '../lib/moves/holders-touch.ts';
import { isCommitted } from '../lib/recovery/address.ts';
import { checkCode, verifiedAt } from '../lib/verification/check-code.ts';
import { checkToken } from '../lib/verification/check-token.ts';
import { TOKEN_CHARS_MAX } from '../lib/verification/email-token.ts';
import type { RefusedCheck } from '../lib/verification/find-code.ts';
import { sendCode } from '../lib/verification/send-code.ts';
import { Proof } from './answers/common.ts';
import { CodeChecked, CodeSent, Verification } from './answers/verify.ts';
import {
  ADMISSION_ERRORS,
  codeText,
  flag,
  holderText,
  identifierText,
  inviteText,
  judged,
  languageText,
  provableChannelName,
  ticketText,
} from './fields.ts';
import { optional, required, textField, word } from './http/fields.ts';
import { json, type Reply } from './http/response.ts';
import { get, post, type Route } from './http/route.ts';

const fields = { identifier: required(identifierText), channel: required(provableChannelName) };

const INVALID_PURPOSE = 'Invalid purpose. Must be "registration", "recovery" or "credential"';
const purposeName = v.picklist(PURPOSES, INVALID_PURPOSE);

/** An email token, in place of a code. */
const emailTokenText = textField('token', TOKEN_CHARS_MAX);

/** One-time codes: sent, checked, and whether an identifier has been proven. */
export const verifyRoutes = [
  post('/api/verify/send', {
    summary: 'Send a one-time code to an address',
    limit: 'writes',
    fields: {
      ...fields,
      pass: optional(ticketText('pass')),
      bind: optional(flag('bind')),
      lang: optional(languageText),
      invite: optional(inviteText),
      purpose: optional(purposeName),
      proof: optional(judged(Proof)),
      nonce: optional(word('nonce', 64)),
    },
    answers: { 200: CodeSent },
    errors: [
      ...ADMISSION_ERRORS,
      'pass_invalid',
      'email_send_failed',
      'sms_send_failed',
      'email_not_configured',
      'sms_not_configured',
      'no_challenge',
      'proof_invalid',
      'rpc_error',
    ],
    idempotency: {
      scope: ({ channel, identifier }, config) => parseIdentifier(channel, identifier, config).key,
      // The challenge is in the reply, and the code is the client's own.
      byClient: true,
      keepMs: untilCodeExpires,
    },
    async handler({ ctx, app, input, client, request, spendProxy }) {
      const identifier = parseIdentifier(input.channel, input.identifier, ctx.config);
      const { pass, bind: isBound, lang, invite, purpose = 'registration', proof, nonce } = input;
      if (purpose === 'credential') demandOffered(ctx.config);
      const isByHolder = proof !== undefined;
      if (isByHolder) {
        if (nonce === undefined) throw badRequest('Missing required field: nonce');
        if (purpose !== 'registration') throw badRequest('Invalid purpose: a proof asks for a code to register');
        spendProxy();
        await judgeHoldersTouch(ctx, KEEP_LABEL, { identifier, assertion: assertionOf(proof), nonce });
      }
      const applicant = { identifier, app, invite };
      if (purpose === 'registration') await demandAdmission(ctx, applicant);
      // An address that recovers an account need not be registered. No answer shows who is known.
      const isKnown = async () => (await isAdmitted(ctx, applicant)) || isCommitted(ctx, identifier.key);
      const isOpen = purpose === 'registration' || admissionOf(ctx, applicant) === null;
      const language = ctx.words.choose('mail', lang, request.headers.get('accept-language'));
      const sent = await sendCode(ctx, {
        identifier,
        purpose,
        ip: client,
        app,
        language,
        pass,
        isByHolder,
        isBound,
        mayReach: isOpen ? undefined : isKnown,
      });
      const { expiresIn: expires_in, retryAfter: retry_after, challenge } = sent;
      return json({ ok: true, channel: identifier.channel, expires_in, retry_after, challenge });
    },
  }),

  post('/api/verify/check', {
    summary: 'Check a code, or a token of the browser',
    limit: 'reads',
    fields: {
      ...fields,
      code: required(codeText),
      challenge: optional(ticketText('challenge')),
      purpose: optional(purposeName),
      holder: optional(holderText),
    },
    answers: { 200: CodeChecked },
    errors: ['sms_provider_error', 'proof_invalid', 'identifier_taken'],
    other: {
      applies: (_, { token }) => token !== undefined,
      limit: 'reads',
      fields: {
        ...fields,
        token: required(emailTokenText),
        code: optional(codeText),
        purpose: optional(purposeName),
      },
      handler: ({ ctx, app, input, client, spendProxy: spend }) =>
        checkedToken(ctx, {
          ...input,
          identifier: parseIdentifier(input.channel, input.identifier, ctx.config),
          app,
          client,
          spend,
        }),
    },
    async handler({ ctx, app, input, client }) {
      const identifier = parseIdentifier(input.channel, input.identifier, ctx.config);
      const { code, challenge, purpose, holder } = input;
      if (purpose === 'credential' || holder !== undefined) {
        const of = demandHolder(ctx.config, input);
        const answer = await issueByCode(ctx, { identifier, code, ...of, ip: client, app });
        return 'credential' in answer ? json({ ok: true, verified: true, ...answer }) : refusedReply(answer);
      }
      const verdict = await checkCode(ctx, { identifier, code, challenge, purpose, ip: client, app });
      if (verdict.verified) return json({ ok: true, verified: true, attestation: verdict.attestation });
      return refusedReply(verdict);
    },
  }),

  get('/api/verify/status', {
    summary: 'Whether an address was ever proven',
    limit: 'reads',
    fields,
    answers: { 200: Verification },
    async handler({ ctx, input }) {
      const identifier = parseQueryIdentifier(input.channel, input.identifier, ctx.config);
      const at = await verifiedAt(ctx, identifier);
      return json({
        identifier: identifier.value,
        channel: identifier.channel,
        verified: at !== null,
        verifiedAt: at === null ? null : isoTime(at),
      });
    },
  }),
] as const satisfies readonly Route[];

function refusedReply({ message, attemptsRemaining }: RefusedCheck): Reply {
  const attempts = attemptsRemaining === undefined ? {} : { attempts_remaining: attemptsRemaining };
  return json({ ok: true, verified: false, message, ...attempts });
}

/** Where the vault issues no credentials, the purpose is none. */
function demandOffered(config: Config): void {
  if (!offersCredentials(config)) throw badRequest(INVALID_PURPOSE);
}

/** Judged by the request alone, before any code. Throws 400 unless purpose, holder and challenge come together. */
function demandHolder(
  config: Config,
  {
    purpose,
    holder,
    challenge,
  }: { readonly [Name in 'holder' | 'challenge']?: string | undefined } & { readonly purpose?: Purpose | undefined },
): { readonly holder: string; readonly challenge: string } {
  if (purpose !== 'credential') throw badRequest('Invalid holder: it goes with the purpose "credential"');
  demandOffered(config);
  const missing = Object.entries({ holder, challenge }).flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (holder === undefined || challenge === undefined)
    throw badRequest(`Missing required fields with the purpose "credential": ${missing.join(', ')}`);
  return { holder, challenge };
}

function untilCodeExpires({ body }: Reply): number {
  const { expires_in } = JSON.parse(typeof body === 'string' ? body : '{}') as { expires_in?: number };
  return (expires_in ?? 0) * 1000;
}

/** A check of a token, as it was asked for. */
interface Asked {
  readonly identifier: Identifier<ProvableChannel>;
  readonly token?: string | undefined;
  readonly code?: string | undefined;
  readonly purpose?: string | undefined;
  readonly app: string;
  readonly client: string;
  readonly spend: () => void;
}

/** Answers a check of a token. It shows an email address, for a registration, and nothing else. */
async function checkedToken(
  ctx: Context,
  { identifier, token = '', code, purpose = 'registration', ...rest }: Asked,
): Promise<Reply> {
  if (!ctx.config.emailTokens) throw badRequest('Invalid token: EMAIL_TOKENS is off');
  if (code !== undefined) throw badRequest('Expected one of: code, token');
  if (identifier.channel !== 'email') throw badRequest('Invalid token: it shows an email address');
  if (purpose !== 'registration') throw badRequest('Invalid token: its only purpose is registration');
  const { value, key } = identifier;
  const verdict = await checkToken(ctx, { ...rest, identifier: { channel: 'email', value, key }, token });
  return json(
    verdict.verified
      ? { ok: true, verified: true, attestation: verdict.attestation }
      : { ok: true, verified: false, message: 'Token refused', reason: verdict.fault },
  );
}
