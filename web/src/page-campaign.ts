// The script of the page of a campaign that computes.
import { LiveCampaign } from "./live/campaign.ts";
import { start } from "./main.ts";

void start(LiveCampaign);
