# files: banklist.csv
import csv

from lxml import etree, html
from lxml.builder import E

with open("banklist.csv", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))[:50]
root = E.banks(*(E.bank(E.name(row["Bank Name"]), E.city(row["City"], state=row["ST"])) for row in rows))
print(etree.tostring(root, pretty_print=True).decode()[:200], root.xpath("count(//city[@state='GA'])"), root.xpath("//city[@state='GA']/text()")[:3])
sheet = etree.XSLT(etree.XML("""<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/banks">
<ul><xsl:for-each select="bank[position() &lt; 4]"><li><xsl:value-of select="name"/></li></xsl:for-each></ul></xsl:template></xsl:stylesheet>"""))
print(str(sheet(root)))
schema = etree.RelaxNG(etree.XML('<element name="banks" xmlns="http://relaxng.org/ns/structure/1.0"><zeroOrMore><element name="bank"><element name="name"><text/></element></element></zeroOrMore></element>'))
print(schema.validate(root), schema.error_log.last_error.message)
page = html.fromstring("<p>a<br>b <a href='/x?y=1&z'>link</a><table><tr><td>1<td>2")
print(html.tostring(page), page.xpath("//a/@href"), etree.LIBXML_VERSION)
try:
    etree.fromstring("<a><b></a>")
except etree.XMLSyntaxError as error:
    print(error)
try:
    etree.fromstring('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>', etree.XMLParser(no_network=True, resolve_entities=False))
except etree.XMLSyntaxError as error:
    print(error)
len(root)
