"""Texts of the demo corpus that do not come from a Python installation.

Passages in many scripts, texts invented from their words, edge cases, malformed records.
"""

import functools
import random
import re
import unicodedata

# Language code -> a passage written for this project. Lines are broken as in a plain text file.
PASSAGES = {
    "en": """\
The miller opened the sluice before sunrise, as his mother had done, and listened. A wheel that
turns well hums on one note; a wheel that is about to break sings two. He had learnt to hear the
difference at six, long before he could read the marks on the sacks. By noon the carts stood in a
row along the bank, rye first, then barley, then the one thin sack of wheat that the teacher
brought every autumn. Nobody paid in coin. One scoop of every ten stayed behind in the oak chest,
and from that chest came the bread of the whole house until the snow was gone.""",
    "en-2": """\
A map is a promise about what has been left out. The surveyor who drew our valley kept the three
bridges and forgot the ford, since no carriage could use it; the fishermen kept the ford and never
mentioned the bridges, because a boat passes under them without asking. Both sheets hang in the
town hall today, side by side, and visitors always ask which of them is wrong. The clerk answers
that the river has moved twice since then, so that both are right about the past and useless for
a walk. Then she sells them a third map, printed last year, which leaves out the railway.""",
    "de": """\
Im Spätherbst, wenn die Äpfel längst gekeltert waren, saßen wir abends in der Küche und flochten
Körbe. Großvater schälte die Weidenruten, Tante Käthe zählte laut die Maschen, und draußen schlug
der Wind gegen die Läden. Jeder Korb begann mit einem Kreuz aus acht Stäben; wer es schief legte,
mußte von vorn anfangen, denn ein schiefer Boden verzeiht nichts. Über das Wetter durfte man
reden, über Geld nicht. Gegen zehn Uhr löschte jemand die Lampe, und übrig blieb der Geruch von
feuchter Rinde. Im Frühjahr verkauften wir alles auf dem Markt, außer dem häßlichsten Korb: Der
blieb für die Kartoffeln.""",
    "ru": """\
Маяк на мысе построили ещё при деде нынешнего смотрителя, и каждый год его белили перед первым
льдом. Лестница внутри узкая, сто сорок ступеней, и на каждой кто-нибудь да отдыхал. Наверху
пахло керосином, хотя лампу давно сменили на электрическую; говорили, что запах живёт в дереве.
Смотритель вёл журнал: ветер, высота волны, чужие огни. Однажды он записал: «Тишина. Ничего не
видно, но кто-то поёт». Утром к берегу прибило пустую лодку с новым парусом, и с тех пор в ясный
вечер он зажигает свет на четверть часа раньше, чем требует устав. Никто ему этого не запретил.""",
    "el": """\
Ο ΓΕΡΟΣ ΨΑΡΑΣ καθόταν κάθε πρωί στο ίδιο σκαλί και μπάλωνε τα δίχτυα του. Οι ΑΝΕΜΟΣ και ΘΑΛΑΣΣΑ,
έλεγε, είναι δύο αδέλφια που μαλώνουν για το ίδιο χωράφι. Όταν φυσούσε βοριάς, τα παιδιά μάζευαν
όστρακα πίσω από τον μόλο και τα αντάλλασσαν με ξερά σύκα. Πάνω από την πόρτα του καφενείου
κρεμόταν μια ταμπέλα με κεφαλαία γράμματα: ΚΑΛΩΣ ΗΡΘΕΣ, ΞΕΝΟΣ ΚΑΙ ΦΙΛΟΣ. Κανείς δεν θυμόταν ποιος
την έγραψε, όμως όλοι ήξεραν ότι το τελευταίο σίγμα το είχε προσθέσει ο δάσκαλος. Το βράδυ άναβαν
ένα φανάρι, και όσοι γύριζαν αργά μετρούσαν τα βήματά τους ως το φως.""",
    "zh": """\
村口有一口老井，井沿被绳子磨出了十几道深沟。老人们说，看沟的深浅就能知道哪一家的人口最多。
每年谷雨前后，村里要淘一次井，年轻人轮流下去，把淤泥一桶一桶提上来，孩子们便围在旁边，
等着看里面会不会有铜钱。有一年真的捞上来一只小铜铃，洗干净以后声音依旧清亮，
先生把它挂在学堂的屋檐下，起风的时候全村都听得见。后来家家装了自来水，井边渐渐冷清，
只有卖豆腐的还坚持用井水，说是煮出来的豆浆更香。去年夏天大旱，水管里三天没有一滴水，
大家又提着桶回到井边排队，才发现那几道沟正好放得下绳子，好像它一直在等着我们回来。
从此每逢谷雨，城里工作的人也会赶回来，脱了鞋，卷起裤腿，像从前那样下去淘一回井，
上来时满身是泥，却没有一个人抱怨，因为晚上总有一锅热豆浆，还有铃声和说不完的旧事。""",
    "ja": """\
港町の坂道をのぼりきったところに、小さな時計屋がある。主人は八十をすぎているが、
ピンセットの先はすこしもふるえない。店のかべには、とまったままの時計が三十個ほどかかっていて、
どれもちがう時刻をさしている。「直さないのですか」とたずねると、
「持ち主がむかえに来るまでは、ねむらせておくのです」とわらった。雨の日には客が来ないので、
主人はラジオをつけ、ガラスのびんにはいった歯車を大きさの順にならべる。ある冬の朝、
船員が四十年ぶりにたずねてきて、父の懐中時計の番号をつげた。主人はだまって奥へゆき、
ぜんまいをまいた。ポケットの中でそれは、なにごともなかったように動きはじめた。
代金をたずねると、預かり証がまだ有効だからいらないという。船員はぼうしをぬいで頭をさげ、
坂道をゆっくりとくだっていった。その日から店の時計は、ひとつだけ少なくなっている。""",
    "ko": """\
할머니의 장독대에는 항아리가 열두 개 있었다. 가장 큰 것은 간장, 그다음은 된장, 맨 끝의 작은 것은
아무도 열어 보지 못하게 하셨다. 봄이 되면 우리는 햇볕이 잘 드는 날을 골라 뚜껑을 모두 열고,
꽃가루가 들어가지 않도록 하얀 천을 씌웠다. 비가 한 방울이라도 떨어지면 온 식구가 마당으로 달려
나갔다. 학교에 있을 때 하늘이 어두워지면 나는 공부보다 항아리 걱정이 먼저 들었다. 할머니가
돌아가신 뒤에 어머니는 작은 항아리를 조심스럽게 여셨다. 그 안에는 우리가 어릴 때 쓴 편지와
빠진 젖니, 그리고 씨앗 한 줌이 들어 있었다. 씨앗은 심었고, 지금도 여름마다 울타리에 나팔꽃이
핀다. 장맛은 조금씩 달라졌지만 뚜껑을 여는 날의 냄새만은 그대로이고, 비가 오면 우리는 여전히
마당으로 달려 나간다. 올해는 내 딸이 가장 먼저 뛰어나가 하얀 천을 걷었다.""",
    "ar": """\
في آخر السوق القديم دكان ضيق لا يتسع لأكثر من رجلين، يجلس فيه صانع الأقفال منذ أربعين سنة.
يقول إن القفل الجيد مثل السر، لا يفتحه إلا من يعرف متى يتوقف. على الجدار مئات المفاتيح التي
نسيها أصحابها، وقد علّق بجانب كل مفتاح ورقة صغيرة فيها اسم الشارع والسنة. جاءت امرأة ذات صباح
تسأل عن مفتاح بيت هُدم قبل أن تولد، فأعطاها إياه دون أجر. قالت: ماذا أفعل بمفتاح لا باب له؟
فأجابها مبتسمًا: الأبواب كثيرة يا ابنتي، أما المفاتيح فقليلة. وفي المساء أغلق دكانه كعادته بخيط
من القطن، لأن أحدًا لم يفكر يومًا في أن يسرق رجلًا يعرف كل أقفال المدينة.""",
    "hi": """\
गाँव के बाहर बरगद के नीचे हर बुधवार को हाट लगता था। कुम्हार अपने घड़े उलटे रखता, ताकि लोग
उन्हें बजाकर सुन सकें; अच्छा घड़ा घंटी की तरह बोलता है और कच्चा घड़ा चुप रहता है। दादी कहती थीं कि
आदमी को भी ऐसे ही परखना चाहिए। मैं उनके साथ जाता, हाथ में पीतल का छोटा लोटा लेकर, और लौटते समय
उसमें गुड़ भरा होता। रास्ते में एक सूखी नदी पड़ती थी जिसके पत्थर गर्मियों में चमकते थे। एक साल
बाढ़ आई और हाट बह गया, पर बरगद खड़ा रहा। अगले बुधवार को केवल कुम्हार आया, एक ही घड़ा लेकर, और
ज़मीन पर बैठ गया। शाम तक पूरा गाँव उसके चारों ओर था।""",
    "tr": """\
İskelenin yanındaki ÇINAR ağacının gölgesinde her sabah üç ihtiyar otururdu. Biri İstanbul'dan,
biri Iğdır'dan, öteki ise hiç söylemediği bir yerden gelmişti. Çayı ince belli bardakta içer,
şekeri dilin altında bekletirlerdi. Vapur yanaşınca susar, inenlerin ayakkabılarına bakarlardı;
yüzler yalan söyler, derlerdi, ama topuklar söylemez. Bir gün küçük bir kız indi, elinde kırmızı
bir kutu, ayağında iki farklı ayakkabı. IŞIK ve gölge arasında durup DENİZ nerede, diye sordu.
Üçü birden ayağa kalktı. O günden sonra masada dört bardak vardı, dördüncüsü hep ılık süttü ve
kimse şekerin hesabını tutmadı.""",
    "vi": """\
Bà ngoại tôi bán chè ở đầu con hẻm, ngay dưới gốc cây bàng già. Mỗi buổi chiều, khi tiếng chuông
xe đạp của người đưa thư vang lên, bà lại múc sẵn một chén chè đậu xanh để trên chiếc ghế gỗ.
Người đưa thư không bao giờ trả tiền, nhưng ông đọc thư giúp những ai không biết chữ. Mùa mưa năm
ấy nước ngập đến đầu gối, cả xóm dọn đồ lên gác, chỉ có bà vẫn ngồi với nồi chè trên chiếc thuyền
nan. Ông đưa thư lội nước đến, áo ướt sũng, trong túi chỉ còn một lá thư gửi cho bà. Ông đọc rất
chậm, rồi im lặng. Từ hôm đó bà nấu thêm một nồi nữa, và không ai hỏi lá thư đã viết những gì.""",
}

SHORT_TEXTS = [
    "a", "Ω", "水", "👋🏽", "No.", "Ende.", "да", "ΣΑΣ", "はい", "네", "نعم", "हाँ", "İ", "ấy",
    "See above.", "Not yet written.", "TODO", "404", "e\u0301", "\u0301",
]  # fmt: skip

# White space of several kinds, and punctuation that cleaning deletes (ASCII) or keeps (the rest).
MARKS_TEXTS = [
    " ", "\n\n\n", "\t \t", "\u00a0\u2003\u3000", "...", "-" * 300, "?! " * 100,
    "#" * 80 + "\n" * 9, "。、！" * 90, "\u2028\u2029\u0085",
]  # fmt: skip

# Strings that a tokenizer may take for control tokens; in a text they are text.
TOKEN_LITERALS = ["<|endoftext|>", "<|im_end|>", "<think>"]

MALFORMED_RECORDS = [
    b'{"text": "This record stops in the middle of',
    b'["This record is a list", "not an object"]',
    b'{"body": "This record keeps its text under another name"}',
    b'{"text": null}',
    b'{"text": 1789}',
    b'{"text": "This record is Latin-1: caf\xe9"}',
]


@functools.cache
def _words_and_pieces(language: str) -> tuple[list[str], list[str]]:
    """Return the short words of a passage, and the pieces of three characters of all its words."""
    words = re.split(r"[\s.,;:!?。、，；：？「」«»]+", PASSAGES[language])
    # Scripts without spaces give whole clauses here, which would be long common runs.
    known = sorted({word for word in words if 0 < len(word) <= 9})
    pieces = sorted({word[i : i + 3] for word in words for i in range(0, len(word), 3)})
    return known, pieces


def invented_words(rng: random.Random, language: str, n_words: int) -> list[str]:
    """Words of a passage and, more often, words put together from pieces of its words.

    Two invented texts of a language look alike and share next to no runs of 13 characters.
    """
    known, pieces = _words_and_pieces(language)

    def invented_word() -> str:
        if rng.random() < 0.4:
            return rng.choice(known)
        return "".join(rng.choices(pieces, k=rng.randint(1, 3)))

    return [invented_word() for _ in range(n_words)]


def invented_text(rng: random.Random, language: str) -> str:
    """Sentences of invented words, 900 to 4,000 characters, in NFC."""
    goal_chars = rng.randint(900, 3800)
    text = ""
    while len(text) < goal_chars:
        sentence = " ".join(invented_words(rng, language, rng.randint(5, 14)))
        text += sentence[0].upper() + sentence[1:] + rng.choice([". ", ". ", "? ", ".\n"])
    return unicodedata.normalize("NFC", text.strip())
