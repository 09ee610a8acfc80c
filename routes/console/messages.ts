import * as v from 'valibot';
import { isoTime } from '../../lib/base/clock.ts';
import { MESSAGES, previewMessage, SAMPLE_PASS } from '../../lib/delivery/preview.ts';
import { DEFAULT_APP } from '../../lib/events/catalogue.ts';
import { accountLink } from '../../lib/recovery/mail-preferences.ts';
import { passLink } from '../../lib/verification/pass.ts';
import { MessagePreview } from '../answers/console.ts';
import { appName, languageText } from '../fields.ts';
import { optional } from '../http/fields.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, type Route } from '../http/route.ts';

const messageName = v.picklist(MESSAGES, `Invalid message. Must be of ${MESSAGES.join(', ')}`);

const THREE_DAYS_MS = 3 * 86_400_000;

/** Mails and text messages as people get them, with made-up values. */
export const messageRoutes = [
  requireOperator(
    'viewer',
    get('/v1/console/messages', {
      summary: 'A mail and its text message, with made-up values',
      answers: { 200: MessagePreview },
      example: { message: 'code.registration', lang: 'de' },
      fields: { message: optional(messageName), lang: optional(languageText), app: optional(appName) },
      async handler({ ctx, input }) {
        const { config, clock, words } = ctx;
        const { message = 'code.registration', app = DEFAULT_APP } = input;
        const language = words.choose('mail', input.lang, null);
        const brand = ctx.brandOf(app);
        const { host } = new URL(config.baseUrl);
        const constant = { brand, host, language, credentialSeconds: config.credentialTtlSeconds };
        const head = { ...constant, ...(await ctx.wordsOf(language)) };
        const shown = brand.isOwn ? { app } : {};
        const { mail, sms } = previewMessage(message, head, {
          links: {
            pass: passLink(config, SAMPLE_PASS, { ...shown, lang: language }),
            smsPass: passLink(config, SAMPLE_PASS, shown),
            account: accountLink(config, { app, language }),
            smsAccount: `${config.baseUrl}/account`,
          },
          lifetimeSeconds: config.emailCodeExpirySeconds,
          readyAt: isoTime(clock.now() + THREE_DAYS_MS),
        });
        const choices = {
          messages: MESSAGES,
          languages: words.languagesOf('mail'),
          apps: [DEFAULT_APP, ...config.apps.filter((one) => one !== DEFAULT_APP)],
        };
        // A provider that keeps the codes writes the text itself.
        const byProvider = ctx.sms.kind === 'verify';
        return json({ ...choices, message, lang: language, app, mail, sms: byProvider ? null : sms });
      },
    }),
  ),
] as const satisfies readonly Route[];
