import * as v from 'valibot';
import { about, Count, Time } from './common.ts';

const activity = {
  codes: about(Count, 'Codes that were issued'),
  signins: about(Count, 'Codes that were exchanged'),
  last_signin_at: about(v.nullable(Time), 'The end of the minute of the last one; null for none in the day'),
  refusals: about(
    v.array(
      v.object({
        stage: about(v.picklist(['link', 'page', 'token']), "The app's link, what the person did, the app's exchange"),
        reason: v.string(),
        count: Count,
      }),
    ),
    'The most frequent first',
  ),
};

const App = v.object({
  client_id: v.string(),
  name: about(v.string(), 'As people see it'),
  kind: v.picklist(['confidential', 'public']),
  authentication: v.array(v.picklist(['client_secret_basic', 'client_secret_post', 'none'])),
  secrets: about(Count, 'How many are good; none is shown'),
  pkce: v.picklist(['required', 'optional']),
  sector: about(v.string(), 'Clients of one sector get the same `sub`'),
  redirect_uris: v.array(v.string()),
  ...activity,
});

/** A key that signs for others. */
export const SigningKey = v.object({
  kid: v.string(),
  state: about(
    v.picklist(['signing', 'next', 'former', 'sealed']),
    '`sealed`: this vault cannot open its private half, as after another VAULT_SECRET',
  ),
  signs_from: Time,
  ends_at: about(v.nullable(Time), 'When it is published no more; null while no other one has followed it'),
});

/** The apps that people sign in to. */
export const ConsoleApps = v.object({
  enabled: about(v.boolean(), 'False without CLIENTS'),
  since: about(Time, 'From when on sign-ins and refusals are counted: a day ago'),
  apps: v.array(App),
  others: about(v.object(activity), 'Of clients that CLIENTS does not name'),
  signing_keys: about(v.array(SigningKey), 'Of ID tokens, the newest first'),
});
